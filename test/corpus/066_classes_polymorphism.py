# A shape table: abstract method, subclasses, sorting by area.
class Shape:
    def area(self):
        raise NotImplementedError("area of " + type(self).__name__)

    def __lt__(self, other):
        return self.area() < other.area()

class Rect(Shape):
    def __init__(self, w, h):
        self.w, self.h = w, h

    def area(self):
        return self.w * self.h

class Square(Rect):
    def __init__(self, s):
        super().__init__(s, s)

class Circle(Shape):
    def __init__(self, r):
        self.r = r

    def area(self):
        return 3.14159 * self.r ** 2

class Blob(Shape):
    pass

shapes = [Rect(2, 5), Square(3), Circle(1), Circle(2)]
for s in sorted(shapes):
    print("%-6s %.2f" % (type(s).__name__, s.area()))
try:
    Blob().area()
except NotImplementedError as e:
    print(type(e).__name__, e)
