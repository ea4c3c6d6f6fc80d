# Generators by statements: what each way of stepping one yields, returns and raises.
def show(name, f):
    try:
        print(name, "->", f())
    except Exception as e:
        print(name, "->", type(e).__name__, e.args)


def gen():
    try:
        x = yield 1
        print("got", x)
        y = yield 2
        print("got", y)
        return "end"
    except ValueError as e:
        print("caught", e.args)
        yield "after"
    finally:
        print("finally")


g = gen()
show("send before start", lambda: g.send(5))
show("first", lambda: next(g))
show("send", lambda: g.send("a"))
show("throw", lambda: g.throw(ValueError("v")))
show("rest", lambda: list(g))
show("after the end", lambda: next(g))

g = gen()
next(g)
show("close", lambda: g.close())
show("close again", lambda: g.close())
show("next of closed", lambda: next(g))
show("throw into new", lambda: gen().throw(KeyError("k")))


def value():
    try:
        r = yield from gen()
        print("value", r)
    except ZeroDivisionError:
        print("zero")
    yield "last"


v = value()
show("delegate", lambda: next(v))
show("delegate send", lambda: v.send("x"))
show("delegate end", lambda: v.send("y"))
v = value()
next(v)
show("delegate throw", lambda: v.throw(ZeroDivisionError))
show("delegate list", lambda: list(v))

show("stop iteration within", lambda: list(x for x in [next(iter([]), 7)]))
def stops():
    yield 1
    raise StopIteration
show("raises stop", lambda: list(stops()))
def ignores():
    while True:
        try:
            yield 1
        except GeneratorExit:
            break
i = ignores()
next(i)
show("leaves on close", lambda: i.close())
def stubborn():
    while True:
        try:
            yield 1
        except GeneratorExit:
            pass
s = stubborn()
next(s)
show("refuses to close", lambda: s.close())

show("expression", lambda: sum(x * x for x in range(5)))
show("nested", lambda: list((a, b) for a in range(2) for b in "xy" if (a, b) != (0, "y")))
show("lazy", lambda: next(1 // x for x in (1, 0)))
show("empty", lambda: list(x for x in ()))
a, *b = (x for x in range(4))
print(a, b)
show("in", lambda: 3 in (x for x in range(5)))
show("max", lambda: max((x % 3 for x in range(5)), default=0))
show("join", lambda: ",".join(str(x) for x in range(3)))
show("dict", lambda: sorted(dict((x, x + 1) for x in range(2)).items()))
show("zip", lambda: list(zip((x for x in "ab"), (x for x in (1, 2, 3)))))
def countdown(n):
    while n:
        yield n
        n -= 1
show("loop", lambda: [x for x in countdown(3)])
show("two at once", lambda: [(x, y) for x, y in zip(countdown(3), countdown(2))])
def tree(t):
    if t:
        left, v, right = t
        yield from tree(left)
        yield v
        yield from tree(right)
show("tree", lambda: list(tree(((None, 1, None), 2, (None, 3, None)))))
