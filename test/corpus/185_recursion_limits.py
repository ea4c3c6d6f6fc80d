# micropython-only
# Endless recursion ends in RuntimeError, and the engine goes on.
def down(n):
    return down(n + 1)

class C:
    def __repr__(self):
        return repr([self])

    def __getattr__(self, name):
        return getattr(self, name + "x")

def gen(n):
    yield from gen(n + 1)

for name, f in (("function", lambda: down(0)), ("repr", lambda: repr(C())), ("getattr", lambda: C().a),
                ("generator", lambda: list(gen(0))), ("sort key", lambda: sorted([1, 2], key=lambda x: down(x)))):
    try:
        f()
        print(name, "ended")
    except RuntimeError as e:
        print(name, "RuntimeError")
print(sum(range(10)))
