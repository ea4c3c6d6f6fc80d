# Closures and generators: counters over captured cells, composed functions, a pipeline of generators.
def counter(step):
    n = 0

    def tick():
        nonlocal n
        n += step
        return n

    return tick


def compose(f, g):
    return lambda x: f(g(x))


def evens(source):
    for v in source:
        if v % 2 == 0:
            yield v


a, b = counter(1), counter(3)
for _ in range(100000):
    a()
    b()
twice = compose(lambda x: x * 2, lambda x: x + 1)
total = 0
for i in range(100000):
    total += twice(i)
total += sum(x * x for x in evens(range(100000))) % 1000003
print(a(), b(), total)
