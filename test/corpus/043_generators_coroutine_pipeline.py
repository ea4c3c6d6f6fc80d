# A small push pipeline of primed coroutines.
def coroutine(f):
    def start(*a):
        g = f(*a)
        next(g)
        return g
    return start

@coroutine
def sink(out):
    while True:
        out.append((yield))

@coroutine
def smooth(n, target):
    window = []
    while True:
        window.append((yield))
        if len(window) > n:
            window.pop(0)
        target.send(sum(window) / len(window))

@coroutine
def threshold(limit, target):
    above = False
    while True:
        v = yield
        now = v > limit
        if now != above:
            target.send(("up" if now else "down", v))
        above = now

out = []
p = smooth(2, threshold(5, sink(out)))
for v in (1, 2, 8, 9, 10, 3, 2, 1, 12, 12):
    p.send(v)
print(out)
