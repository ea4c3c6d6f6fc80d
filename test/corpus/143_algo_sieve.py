# Sieve of Eratosthenes and prime gaps.
def sieve(n):
    flags = bytearray(b"\1" * (n + 1))
    flags[0] = flags[1] = 0
    i = 2
    while i * i <= n:
        if flags[i]:
            for k in range(i * i, n + 1, i):
                flags[k] = 0
        i += 1
    return [i for i in range(n + 1) if flags[i]]

p = sieve(5000)
print(len(p), p[:10], p[-3:], sum(p))
print(max(b - a for a, b in zip(p, p[1:])), sum(1 for a, b in zip(p, p[1:]) if b - a == 2))
