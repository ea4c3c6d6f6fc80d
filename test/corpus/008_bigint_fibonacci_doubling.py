# Fast doubling reaches Fibonacci 500 in nine steps.
def fib(n):
    if n == 0:
        return 0, 1
    a, b = fib(n >> 1)
    c = a * (2 * b - a)
    d = a * a + b * b
    return (d, c + d) if n & 1 else (c, d)

for n in (10, 90, 91, 92, 93, 150, 500):
    print(n, fib(n)[0])
