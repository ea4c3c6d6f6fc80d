# A dictionary that keeps the order of insertion.
from collections import OrderedDict

d = OrderedDict()
for k in "zebra":
    d[k] = ord(k)
print(list(d.keys()), list(d.values()))
d["z"] = 0
print(list(d.items())[0])
del d["b"]
d["b"] = 1
print(list(d))
print(d.popitem(), list(d))
e = OrderedDict([("one", 1), ("two", 2)])
e.update({"three": 3})
print([k + str(v) for k, v in e.items()])
print(OrderedDict([("a", 1), ("b", 2)]) == OrderedDict([("a", 1), ("b", 2)]), len(e))
