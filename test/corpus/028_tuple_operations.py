# Tuples: packing, comparison, methods, nesting.
t = (1, "a", 2.5)
print(t, t[1], t[-1], t[:2], len(t), t + (4,), t * 2)
print((), (1,), tuple([1, 2]), tuple("ab"))
print((1, 2) < (1, 3), (1, 2) < (1, 2, 0), (2,) > (1, 99))
print(t.index("a"), t.count(1), "a" in t)
a, b, c = t
print(c, b, a)
a, b = b, a
print(a, b)
try:
    t[0] = 5
except TypeError:
    print("tuples do not change")
d = {(0, 0): "origin", (1, 2): "point"}
print(d[(1, 2)], d[0, 0])
