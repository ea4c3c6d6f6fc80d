# Calls: fib(22), three times over.
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


for _ in range(3):
    r = fib(22)
print(r)
