# __call__, __hash__ with __eq__, and use as dictionary keys.
class Key:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __hash__(self):
        return hash((self.a, self.b))

    def __eq__(self, o):
        return (self.a, self.b) == (o.a, o.b)

d = {Key(1, "x"): "first", Key(2, "y"): "second"}
print(d[Key(1, "x")], d[Key(2, "y")], Key(3, "z") in d)
print(len({Key(1, 1), Key(1, 1), Key(1, 2)}))

class Multiplier:
    def __init__(self, k):
        self.k = k

    def __call__(self, x, *rest):
        return [self.k * v for v in (x,) + rest]

m = Multiplier(3)
print(m(1), m(1, 2, 3), callable(m), list(map(m, [5])))
