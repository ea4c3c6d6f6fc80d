# An exception crosses calls, loops, comprehensions and callbacks.
def level(n):
    if n == 0:
        raise ValueError("bottom")
    try:
        level(n - 1)
    finally:
        trail.append(n)

trail = []
try:
    level(5)
except ValueError as e:
    print(e, trail)

def boom(x):
    if x == 3:
        raise RuntimeError("at %d" % x)
    return x

for name, f in (("list", lambda: [boom(i) for i in range(5)]),
                ("map", lambda: list(map(boom, range(5)))),
                ("sort", lambda: sorted([1, 3, 2], key=boom)),
                ("gen", lambda: sum(boom(i) for i in range(5))),
                ("dict", lambda: {i: boom(i) for i in range(5)})):
    try:
        f()
    except RuntimeError as e:
        print(name, e)
