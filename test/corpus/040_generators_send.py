# send, and a running average kept inside a generator.
def averager():
    total, count, average = 0, 0, None
    while True:
        value = yield average
        total += value
        count += 1
        average = total / count

g = averager()
print(next(g))
print([g.send(v) for v in (10, 20, 60)])

def echo():
    got = []
    while True:
        x = yield len(got)
        if x is None:
            return got
        got.append(x)

e = echo()
next(e)
e.send("a")
e.send("b")
try:
    e.send(None)
except StopIteration as stop:
    print(stop.value)
fresh = averager()
try:
    fresh.send(1)
except TypeError:
    print("not started yet")
