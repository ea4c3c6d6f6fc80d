# type() builds a class; classes are values.
def greet(self):
    return "hi from " + self.name

Made = type("Made", (), {"name": "made", "greet": greet})
m = Made()
print(m.greet(), Made.__name__, isinstance(m, Made))
Sub = type("Sub", (Made,), {"name": "sub"})
print(Sub().greet(), issubclass(Sub, Made))

def factory(unit):
    class Reading:
        def __init__(self, v):
            self.v = v
        def __str__(self):
            return str(self.v) + unit
    return Reading

C, H = factory("C"), factory("%")
print(C(21), H(40), C is H)
for cls, arg in ((int, "5"), (str, 5), (list, "ab"), (C, 1)):
    print(cls(arg))
