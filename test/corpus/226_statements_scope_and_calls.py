# Names and calls by statements.
def run(f, *a, **k):
    try:
        print(f(*a, **k))
    except Exception as e:
        print(type(e).__name__)


def all_kinds(a, b=2, *rest, c, d=4, **named):
    return a, b, rest, c, d, sorted(named.items())


run(all_kinds, 1, c=3)
run(all_kinds, 1, 2, 3, 4, c=5, z=6)
run(all_kinds, 1)
run(all_kinds, c=1)
run(all_kinds, 1, a=1, c=2)
run(all_kinds, *[1, 2], **{"c": 3, "q": 4})
run(all_kinds, *(1,), *(2, 3), c=0)


def default(x, seen=[]):
    seen.append(x)
    return seen[:]


run(default, 1)
run(default, 2)
run(default, 3, [])
total = 0


def add(n):
    global total
    total += n
    return total


run(add, 2)
run(add, 3)


def counter():
    n = 0

    def up():
        nonlocal n
        n += 1
        return n

    return up


u, v = counter(), counter()
print(u(), u(), v())


def unbound():
    try:
        x_later += 1
    except NameError:
        return "no such name yet"


run(unbound)
fs = [lambda: k for k in range(3)]
print([f() for f in fs])
fs = [lambda k=k: k for k in range(3)]
print([f() for f in fs])
print((lambda *a: len(a))(*range(5)), (lambda **k: sorted(k))(b=1, a=2))
a = b = [1]
b += [2]
print(a, b, a is b)
b = b + [3]
print(a, b)
(a, b), c = (1, 2), 3
print(a, b, c)
a, b = b, a
print(a, b)
first, *middle, last = range(5)
print(first, middle, last)
*most, end = "ab"
print(most, end)
run(lambda: [p + q for p, q in [(1, 2), (3, 4)]])
try:
    a, b = 1, 2, 3
except ValueError:
    print("too many")
try:
    a, b = 1,
except ValueError:
    print("too few")
try:
    a, b = 5
except TypeError:
    print("not iterable")
k = "outer"
print([k for k in range(2)], k)
if (n := 10) > 5:
    print(n)
print([y := 1, y ** 2], y)
while True:
    break
else:
    print("never")
for q in []:
    pass
else:
    print("empty")
for q in range(3):
    if q == 1:
        continue
    if q == 2:
        break
else:
    print("never")
print(q)
data = {"a": [1, {"b": 2}]}
data["a"][1]["b"] += 5
data["a"][0] -= 1
print(data)
m = [1, 2, 3, 4, 5]
m[1:3] = [9]
print(m)
m[0:0] = [7, 7]
print(m)
del m[1:3]
print(m)
m[-1] *= 2
print(m)
del m[0], m[0]
print(m)
m.extend([3, 1]); m.insert(1, 8); m.sort(); print(m, m.pop(), m.pop(0)); m.reverse(); print(m); m.remove(3); print(m); m.clear(); print(m)
ns = {}
exec("def f(x): return x + base\nbase = 10", ns)
print(ns["f"](5), eval("f(1) + base", ns))
x = 5
x //= 2; print(x)
x **= 3; print(x)
x <<= 2; print(x)
x |= 1; print(x)
x ^= 3; print(x)
x %= 7; print(x)
x &= 6; print(x)
x >>= 1; print(x)
x -= 5; x /= 2; print(x)
print(1 if x else 2, x and 3, x or 4, not x)
print("é" "ü", "a" 'b' """c""")
def doc():
    "text"
    pass
print(doc())
pass; print("same line")
print(sorted({(i, j) for i in range(2) for j in range(2)}), {i: i * i for i in range(3)} == {0: 0, 1: 1, 2: 4})
assert True
def rec(n): return 1 if n < 2 else n * rec(n - 1)
print(rec(20))
def even(n): return True if n == 0 else odd(n - 1)
def odd(n): return False if n == 0 else even(n - 1)
print(even(40), odd(7))
