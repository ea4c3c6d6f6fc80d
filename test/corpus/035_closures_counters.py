# Closures hold their own cells.
def make_counter(step=1):
    count = 0
    def tick():
        nonlocal count
        count += step
        return count
    def reset():
        nonlocal count
        count = 0
    return tick, reset

t1, r1 = make_counter()
t2, _ = make_counter(10)
print(t1(), t1(), t2(), t1(), t2())
r1()
print(t1(), t2())
adders = [lambda x, n=n: x + n for n in range(3)]
print([f(10) for f in adders])
late = [lambda: n for n in range(3)]
print([f() for f in late])

def outer():
    values = []
    def add(v):
        values.append(v)
        return len(values)
    return add, values

add, seen = outer()
add("a"), add("b")
print(seen)
