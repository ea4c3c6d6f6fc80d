# Quotient and remainder of long integers, all sign combinations.
big = 10 ** 30 + 7
for n in (big, -big):
    for d in (10 ** 12 + 39, -(10 ** 12 + 39), 17, -17):
        q, r = n // d, n % d
        print(q, r, q * d + r == n)
print(big // 10 ** 30, -big // 10 ** 30)
print(10 ** 40 // 3, 10 ** 40 % 7)
