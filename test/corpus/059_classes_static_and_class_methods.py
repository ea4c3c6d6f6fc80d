# staticmethod and classmethod, also as alternative constructors.
class Point:
    count = 0

    def __init__(self, x, y):
        self.x, self.y = x, y
        type(self).count += 1

    @classmethod
    def parse(cls, text):
        return cls(*[int(p) for p in text.split(",")])

    @staticmethod
    def distance(a, b):
        return abs(a.x - b.x) + abs(a.y - b.y)

class Named(Point):
    count = 0

    def label(self):
        return "<%d,%d>" % (self.x, self.y)

p, q = Point.parse("1,2"), Named.parse("4,6")
print(Point.distance(p, q), q.distance(p, q), q.label(), type(q).__name__)
print(Point.count, Named.count)
