# Memoised recursion with dictionaries keyed by tuples.
def memo(f):
    seen = {}
    def call(*a):
        if a not in seen:
            seen[a] = f(*a)
        return seen[a]
    return call

@memo
def binomial(n, k):
    return 1 if k in (0, n) else binomial(n - 1, k - 1) + binomial(n - 1, k)

@memo
def partitions(n, largest):
    if n == 0:
        return 1
    return sum(partitions(n - k, k) for k in range(1, min(n, largest) + 1))

@memo
def collatz(n):
    return 1 if n == 1 else 1 + collatz(n // 2 if n % 2 == 0 else 3 * n + 1)

for n in range(0, 10):
    print(" ".join(str(binomial(n, k)) for k in range(n + 1)).center(40).rstrip())
print([partitions(n, n) for n in range(12)], binomial(20, 10))
print(max((collatz(n), n) for n in range(1, 20)))
