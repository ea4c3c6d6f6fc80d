# Defaults, keywords, keyword-only, star and double star.
def f(a, b=2, *rest, c, d=4, **more):
    return a, b, rest, c, d, sorted(more.items())

print(f(1, c=3))
print(f(1, 9, 8, 7, c=3, e=5))
print(f(*[1, 2, 3], **{"c": 0, "z": 26}))
print(f(c=1, a=0))

def g(*args, **kw):
    return len(args), len(kw)

print(g(), g(1, 2), g(x=1), g(*range(5), **{"k": 1}))

def h(x, acc=[]):
    acc.append(x)
    return acc

print(h(1), h(2), h(3, []))
for call in (lambda: f(1), lambda: f(c=1), lambda: h(), lambda: h(1, 2, 3), lambda: h(y=1)):
    try:
        call()
    except TypeError:
        print("TypeError")
