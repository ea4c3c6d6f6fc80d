# Arithmetic and comparison operators on a small vector.
class V:
    def __init__(self, *c):
        self.c = c

    def __add__(self, o):
        return V(*[a + b for a, b in zip(self.c, o.c)])

    def __sub__(self, o):
        return self + -o

    def __neg__(self):
        return V(*[-a for a in self.c])

    def __mul__(self, k):
        if isinstance(k, V):
            return sum(a * b for a, b in zip(self.c, k.c))
        return V(*[a * k for a in self.c])

    def __rmul__(self, k):
        return self * k

    def __eq__(self, o):
        return isinstance(o, V) and self.c == o.c

    def __lt__(self, o):
        return self * self < o * o

    def __gt__(self, o):
        return o < self

    def __abs__(self):
        return (self * self) ** 0.5

    def __bool__(self):
        return any(self.c)

    def __repr__(self):
        return "V" + repr(self.c)

a, b = V(1, 2), V(3, 4)
print(a + b, b - a, -a, a * 3, 3 * a, a * b)
print(a == V(1, 2), a != b, a < b, a > b, abs(b), bool(V(0, 0)), bool(a))
print(sorted([b, a, V(0, 1)]))
a += b
print(a)
