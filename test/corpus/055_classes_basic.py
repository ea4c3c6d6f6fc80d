# Instances, class attributes, bound methods.
class Lamp:
    made = 0

    def __init__(self, name, level=0):
        self.name = name
        self.level = level
        Lamp.made += 1

    def up(self, by=10):
        self.level = min(100, self.level + by)
        return self

    def __repr__(self):
        return "Lamp(%r, %d)" % (self.name, self.level)

a, b = Lamp("desk"), Lamp("hall", 95)
print(a, [b])
a.up().up(5)
b.up()
print(a, b, Lamp.made, a.made)
f = a.up
f(1)
Lamp.up(a, 2)
print(a.level, str(a) == repr(a), isinstance(a, Lamp), type(a) is Lamp, type(a).__name__)
a.colour = "warm"
print(a.colour, hasattr(b, "colour"), getattr(b, "colour", "none"))
setattr(b, "level", 3)
print(b, a.__class__ is Lamp)
