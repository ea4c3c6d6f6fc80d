# Delegation passes values, results and exceptions through.
def inner():
    x = yield 1
    print("inner got", x)
    try:
        yield 2
    except RuntimeError as e:
        print("inner caught", e)
    return "result"

def outer():
    r = yield from inner()
    print("outer has", r)
    yield from [10, 20]
    yield from range(2)

g = outer()
print(next(g))
print(g.send("hello"))
print(g.throw(RuntimeError("oops")))
print(list(g))

def flatten(x):
    for item in x:
        if isinstance(item, (list, tuple)):
            yield from flatten(item)
        else:
            yield item

print(list(flatten([1, [2, (3, 4, [5])], [], [[6]]])))
