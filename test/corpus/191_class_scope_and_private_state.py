# Class bodies run once, defaults are shared, methods may be added later.
class Registry:
    items = []
    sizes = {n: n * n for n in range(3)}
    for _n in range(2):
        items.append(_n)
    if len(items) == 2:
        flag = "two"

    def add(self, x):
        self.items.append(x)
        return self

print(Registry.items, sorted(Registry.sizes.items()), Registry.flag)
r, s = Registry(), Registry()
r.add("shared")
print(s.items)
r.items = ["own"]
print(r.items, s.items, Registry.items is s.items)
Registry.count = lambda self: len(self.items)
print(r.count(), s.count())
Registry.flag = "changed"
print(r.flag, s.flag)
s.flag = "instance"
print(r.flag, s.flag, "flag" in dir(s))
