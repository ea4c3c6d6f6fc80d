# Functions in tables, as arguments and as results.
ops = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}
for op in sorted(ops):
    print(op, ops[op](6, 3))

def apply(f, *a, times=1):
    for _ in range(times):
        a = (f(*a),)
    return a[0]

print(apply(lambda x: x * 2, 1, times=10))
print(sorted([-3, 1, -2], key=abs), sorted(["bb", "a", "ccc"], key=len, reverse=True))
print((lambda *a, **k: (a, k))(1, x=2))
print([f("Hi") for f in (str.upper, str.lower, len)])
def named(): pass
print(named.__name__, named() is None)
