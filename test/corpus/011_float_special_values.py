# Infinities and not-a-number compare as IEEE 754 says.
inf = float("inf")
nan = float("nan")
print(inf, -inf, nan)
print(inf > 1e308, -inf < -1e308, nan == nan, nan != nan, inf == inf)
print(inf - inf, inf * 0, inf + 1, 1 / inf)
print(0.0 == -0.0, str(-0.0), 1e308 * 10)
for bad in ("abc", "", "1.2.3"):
    try:
        float(bad)
    except ValueError:
        print("not a float:", repr(bad))
print(float("1e3"), float(" 2.5 "), float("-.5"), float(7))
