# Searching sorted data: membership, bounds, and a root by bisection.
def bisect_left(a, x):
    lo, hi = 0, len(a)
    while lo < hi:
        mid = (lo + hi) // 2
        if a[mid] < x:
            lo = mid + 1
        else:
            hi = mid
    return lo

a = [1, 3, 3, 3, 7, 9]
print([bisect_left(a, x) for x in (0, 1, 2, 3, 4, 9, 10)])

def root(f, lo, hi):
    for _ in range(60):
        mid = (lo + hi) / 2
        if f(lo) * f(mid) <= 0:
            hi = mid
        else:
            lo = mid
    return lo

print("%.8f %.8f" % (root(lambda x: x * x - 2, 0, 2), root(lambda x: x ** 3 - x - 2, 1, 2)))

def isqrt(n):
    x = n
    while x * x > n:
        x = (x + n // x) // 2
    return x

print(isqrt(10 ** 40), isqrt(99), isqrt(2 * 10 ** 60))
