# The dictionary's own methods.
d = {"a": 1, "b": 2}
d["c"] = 3
print(sorted(d.items()), len(d), "a" in d, "z" in d)
print(d.get("a"), d.get("z"), d.get("z", 0))
print(d.pop("a"), d.pop("nope", "default"))
print(d.setdefault("e", []), d.setdefault("b", 99))
d.update({"f": 6}, g=7)
print(sorted(d.keys()), sorted(str(v) for v in d.values()))
del d["b"]
try:
    d["b"]
except KeyError as e:
    print("KeyError", e.args)
print(dict([("x", 1), ("y", 2)]) == {"y": 2, "x": 1}, dict(p=1))
e = d.copy()
e.clear()
print(len(e), len(d))
print(sorted(dict.fromkeys("abc", 0).items()))
one = {"k": "v"}
print(one.popitem(), one)
try:
    one.popitem()
except KeyError:
    print("empty")
