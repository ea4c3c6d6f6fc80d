# Roman numerals both ways for every number up to 3999.
TABLE = ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
         (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))

def roman(n):
    out = ""
    for v, s in TABLE:
        out += s * (n // v)
        n %= v
    return out

def arabic(s):
    total, i = 0, 0
    for v, sym in TABLE:
        while s[i:i + len(sym)] == sym:
            total += v
            i += len(sym)
    if i != len(s):
        raise ValueError("not Roman: " + s)
    return total

for n in (1, 4, 9, 14, 40, 90, 400, 1994, 2024, 3999):
    print(n, roman(n))
print(all(arabic(roman(n)) == n for n in range(1, 1000)), arabic("MMXXVI"))
try:
    arabic("IXZ")
except ValueError as e:
    print(e)
