# micropython-only
# What int() and float() of this engine let through, kept so that a change is seen.
print(int("1__0"), int("1_0"), int("_5"))
print(1e309, -1e309, float("nan"), 5e-324 > 0)
print(2 ** 31, -2 ** 31, 2 ** 62, 2 ** 63, 2 ** 64)
print(0.1 + 0.2, 1e22, 123456789.125, 1 / 7)
