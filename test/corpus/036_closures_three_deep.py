# A name is found through several function scopes.
def level1(a):
    def level2(b):
        def level3(c):
            nonlocal a
            a += 1
            return a, b, c
        return level3
    return level2

f = level1(1)(2)
print(f(3), f(4), f(5))
g = level1(10)
print(g(0)(0), g(1)(1))

def compose(*fs):
    def run(x):
        for f in reversed(fs):
            x = f(x)
        return x
    return run

print(compose(lambda x: x + 1, lambda x: x * 2, abs)(-5))

def curry(f, *bound):
    return lambda *rest: f(*bound, *rest)

print(curry(max, 3)(1, 2), curry(pow, 2)(8))
