# Exact fractions with operators.
def gcd(a, b):
    while b:
        a, b = b, a % b
    return abs(a)

class Frac:
    def __init__(self, n, d=1):
        if d == 0:
            raise ZeroDivisionError("denominator")
        g = gcd(n, d) * (1 if d > 0 else -1)
        self.n, self.d = n // g, d // g

    def __add__(self, o):
        o = o if isinstance(o, Frac) else Frac(o)
        return Frac(self.n * o.d + o.n * self.d, self.d * o.d)

    __radd__ = __add__

    def __mul__(self, o):
        o = o if isinstance(o, Frac) else Frac(o)
        return Frac(self.n * o.n, self.d * o.d)

    def __truediv__(self, o):
        return self * Frac(o.d, o.n)

    def __eq__(self, o):
        return (self.n, self.d) == (o.n, o.d)

    def __lt__(self, o):
        return self.n * o.d < o.n * self.d

    def __repr__(self):
        return "%d/%d" % (self.n, self.d) if self.d > 1 else str(self.n)

print(Frac(1, 2) + Frac(1, 3), Frac(2, -4), Frac(6, 3), 1 + Frac(1, 4), Frac(3, 4) / Frac(3, 8))
h = Frac(0)
for k in range(1, 21):
    h = h + Frac(1, k)
print(h, sorted([Frac(1, 2), Frac(1, 3), Frac(3, 4)]))
try:
    Frac(1) / Frac(0)
except ZeroDivisionError as e:
    print(e)
