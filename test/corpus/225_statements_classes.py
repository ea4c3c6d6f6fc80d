# Classes by statements: attributes, inheritance and the methods that syntax calls.
log = []


class Base:
    shared = [0]
    count = 0

    def __init__(self, x=0):
        self.x = x
        Base.count += 1

    def who(self):
        return "base", self.x

    @property
    def double(self):
        return self.x * 2

    @double.setter
    def double(self, v):
        self.x = v // 2

    @classmethod
    def make(cls, x):
        return cls(x)

    @staticmethod
    def plus(a, b):
        return a + b


class Mixin:
    def who(self):
        return "mixin",

    def extra(self):
        return "extra"


class Derived(Base, Mixin):
    def __init__(self, x):
        super().__init__(x)
        self.y = x + 1

    def who(self):
        return ("derived",) + super().who()


b, d = Base(1), Derived(5)
print(b.who(), d.who(), d.extra(), Base.count, Derived.count)
print(b.double, d.double)
b.double = 10
print(b.x, Base.plus(1, 2), d.plus(3, 4))
print(type(Derived.make(2)) is Derived, Base.make(3).x)
print(isinstance(d, Base), isinstance(d, Mixin), isinstance(b, Derived), issubclass(Derived, Mixin))
b.shared.append(1)
print(Base.shared, d.shared)
d.shared = "own"
print(Base.shared, d.shared)
del d.shared
print(d.shared)
print(hasattr(b, "y"), getattr(b, "y", None), getattr(d, "y"))
setattr(b, "z", 3)
print(b.z)
delattr(b, "z")
try:
    b.z
except AttributeError:
    print("no z")
try:
    del b.nothing
except AttributeError:
    print("nothing to delete")
try:
    Base(1, 2, 3)
except TypeError:
    print("too many")
Base.who2 = lambda self: ("added", self.x)
print(d.who2())
bound = d.who
print(bound(), Base.who(d))


class Num:
    def __init__(self, v): self.v = v
    def __add__(self, o): return Num(self.v + (o.v if isinstance(o, Num) else o))
    def __radd__(self, o): return Num(o + self.v)
    def __sub__(self, o): return Num(self.v - o.v)
    def __mul__(self, o): return Num(self.v * o)
    def __neg__(self): return Num(-self.v)
    def __eq__(self, o): return isinstance(o, Num) and self.v == o.v
    def __lt__(self, o): return self.v < o.v
    def __le__(self, o): return self.v <= o.v
    def __hash__(self): return hash(self.v)
    def __bool__(self): return self.v != 0
    def __len__(self): return abs(self.v)
    def __getitem__(self, k): return self.v * k if k < 3 else self._stop()
    def _stop(self): raise IndexError
    def __contains__(self, k): return k == self.v
    def __call__(self, *a, **k): return self.v, a, k
    def __repr__(self): return "Num(%d)" % self.v
    def __str__(self): return "<%d>" % self.v
    def __iadd__(self, o): self.v += o; return self
    def __abs__(self): return Num(abs(self.v))
    def __getattr__(self, name):
        if name.startswith("get_"):
            return name[4:]
        raise AttributeError(name)


a = Num(2)
print(a + Num(3), a + 1, 1 + a, a - Num(5), a * 3, -a, abs(Num(-4)))
print(a == Num(2), a != Num(2), a == 2, a < Num(3), a <= Num(2), sorted([Num(3), Num(1)]))
print(bool(Num(0)), bool(a), len(Num(-3)), a[2], 2 in a, 3 in a, list(a))
print(a(1, k=2), repr(a), str(a), "%s %r" % (a, a), "{} {!r}".format(a, a), [a])
print({Num(2): "x"}[a], a.get_name)
try:
    a.other
except AttributeError as e:
    print("attribute", e.args[0])
c = a
c += 5
print(a, c is a)
try:
    a - 1
except AttributeError:
    print("no v")
try:
    a / 2
except TypeError:
    print("no division")
try:
    Base() < Base()
except TypeError:
    print("no order")
print(Base() == Base(), b == b, b != d)


class Chain:
    def __getattr__(self, name):
        return self

    def __getitem__(self, k):
        return ("item", k)

    def __setitem__(self, k, v):
        log.append(("set", k, v))

    def __delitem__(self, k):
        log.append(("del", k))


ch = Chain()
print(ch.a.b.c is ch, ch[1], ch["k"], ch[1, 2])
ch["x"] = 1
del ch["x"]
print(log)


class Iter:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


print(list(Iter(3)), sum(Iter(4)), [x for x in Iter(2)], tuple(Iter(0)), 1 in Iter(3), max(Iter(3)))
x, y = Iter(2)
print(x, y)


class List(list):
    def total(self):
        return sum(self)


li = List([1, 2])
li.append(3)
print(li.total(), len(li), li[0], isinstance(li, list))
