# The return value of a generator rides on StopIteration.
def g():
    yield 1
    return "the result"

it = g()
next(it)
try:
    next(it)
except StopIteration as e:
    print(e.value, e.args)

def collect(gen, out):
    result = yield from gen
    out.append(result)

out = []
print(list(collect(g(), out)), out)

def empty():
    return 7
    yield

print(list(collect(empty(), out)), out)

def broken():
    yield 1
    raise ValueError("inside")

got = []
try:
    for x in broken():
        got.append(x)
except ValueError as e:
    print(got, e)
