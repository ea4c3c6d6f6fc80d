# Floor division and modulo keep the sign of the divisor.
for a in (7, -7, 7.5, -7.5):
    for b in (2, -2, 3, -3):
        print(a, b, a // b, a % b, divmod(a, b))
print(7 / 2, -7 / 2, 6 / 3)
print(2 ** 10, 2 ** 0, (-2) ** 3, -2 ** 2)
print(int(3.99), int(-3.99), round(2.6), round(-2.6))
