# Generators are lazy and finish with StopIteration.
def count(n):
    print("start")
    for i in range(n):
        yield i
    print("end")

g = count(2)
print("made")
print(next(g), next(g))
try:
    next(g)
except StopIteration:
    print("stop")
print(next(g, "default"))

def primes():
    found = []
    n = 2
    while True:
        if all(n % p for p in found):
            found.append(n)
            yield n
        n += 1

def take(n, it):
    for _ in range(n):
        yield next(it)

print(list(take(10, primes())))
pipeline = (x * x for x in (y for y in range(10) if y % 2))
print(sum(pipeline), sum(pipeline))
