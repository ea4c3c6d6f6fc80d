# __getattr__ answers only what ordinary lookup did not find.
class Proxy:
    def __init__(self, target):
        self._target = target
        self._seen = []

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        self._seen.append(name)
        return getattr(self._target, name)

p = Proxy([1, 2])
p.append(3)
print(p.count(3), p._target, p._seen)
print(hasattr(p, "sort"), hasattr(p, "_hidden"), hasattr(p, "nonsense"))

class Config:
    def __init__(self, **kw):
        self.values = kw

    def __getattr__(self, name):
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError("no setting " + name)

c = Config(rate=5)
print(c.rate)
try:
    c.speed
except AttributeError as e:
    print(e)
