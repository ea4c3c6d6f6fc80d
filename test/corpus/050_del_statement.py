# del on names, items, slices and attributes.
a = 1
del a
try:
    a
except NameError:
    print("gone")
l = list(range(10))
del l[0], l[-1]
del l[2:4]
print(l)
d = {1: 2, 3: 4}
del d[1]
print(d)

class C:
    pass

c = C()
c.x = 5
print(hasattr(c, "x"))
del c.x
print(hasattr(c, "x"))
try:
    del c.x
except AttributeError:
    print("no attribute to delete")

def f():
    v = 1
    del v
    try:
        return v
    except NameError:
        return "unbound"

print(f())
