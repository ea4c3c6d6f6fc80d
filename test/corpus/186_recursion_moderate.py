# Recursion of a depth that real programs use.
def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)

print(depth(40))

def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))

print(ackermann(2, 3), ackermann(1, 20))

def even(n):
    return True if n == 0 else odd(n - 1)

def odd(n):
    return False if n == 0 else even(n - 1)

print(even(30), odd(31), even(7))
nested = []
for _ in range(20):
    nested = [nested]
print(str(nested).count("["), nested == eval(repr(nested)))
