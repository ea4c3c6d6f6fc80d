# partial, reduce and wraps.
from functools import partial, reduce, wraps

print(reduce(lambda a, b: a * b, [1, 2, 3, 4]), reduce(lambda a, b: a + b, ["x", "y"], "start:"))
power_of_two = partial(pow, 2)
print(power_of_two(10), partial(max, 5)(3, 9))

def loud(f):
    @wraps(f)
    def inner(*a):
        return str(f(*a)).upper()
    return inner

@loud
def hello(name):
    return "hello " + name

print(hello("bob"))
print(reduce(lambda acc, c: acc * 31 + ord(c), "hash me", 7) % 1000003)
