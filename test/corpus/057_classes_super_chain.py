# super through a chain of four, with results collected on the way.
class A:
    def path(self):
        return ["A"]

class B(A):
    def path(self):
        return ["B"] + super().path()

class C(B):
    pass

class D(C):
    def path(self):
        return ["D"] + super().path()

print(D().path(), C().path())

class Base:
    def __init__(self, **kw):
        self.log = ["base"]
        for k in sorted(kw):
            self.log.append(k)

class Mid(Base):
    def __init__(self, mid=0, **kw):
        super().__init__(**kw)
        self.log.append("mid%d" % mid)

class Top(Mid):
    def __init__(self, top=0, **kw):
        super().__init__(**kw)
        self.log.append("top%d" % top)

print(Top(top=1, mid=2, x=3, y=4).log)
