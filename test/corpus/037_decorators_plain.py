# Decorators that wrap functions, stack, and take arguments.
def trace(f):
    def wrapper(*a, **k):
        print("call", a, sorted(k.items()))
        r = f(*a, **k)
        print("return", r)
        return r
    return wrapper

def repeat(n):
    def deco(f):
        def wrapper(*a):
            return [f(*a) for _ in range(n)]
        return wrapper
    return deco

@trace
def add(a, b=1):
    return a + b

add(2)
add(2, b=5)

@repeat(3)
@trace
def hello(name):
    return "hi " + name

print(hello("x"))

def memo(f):
    cache = {}
    def wrapper(n):
        if n not in cache:
            cache[n] = f(n)
        return cache[n]
    wrapper_cache = cache
    return wrapper

@memo
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

print(fib(60))
