# A shallow copy shares the inner lists, a deep one does not.
import copy

a = {"list": [1, [2, 3]], "n": 5}
s, d = copy.copy(a), copy.deepcopy(a)
a["list"][1].append(4)
a["n"] = 6
print(s["list"], s["n"])
print(d["list"], d["n"])

class Box:
    def __init__(self, items):
        self.items = items

    def __copy__(self):
        return Box(self.items)

    def __deepcopy__(self, memo):
        return Box(copy.deepcopy(self.items))

b = Box([1])
c, e = copy.copy(b), copy.deepcopy(b)
c.items.append(2)
print(b.items, c.items, e.items, b is c)
t = (1, [2])
print(copy.deepcopy(t) == t, copy.deepcopy(t)[1] is t[1])
