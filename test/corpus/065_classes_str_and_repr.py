# print uses __str__, containers use __repr__.
class Money:
    def __init__(self, cents):
        self.cents = cents

    def __str__(self):
        return "$%d.%02d" % (self.cents // 100, self.cents % 100)

    def __repr__(self):
        return "Money(%d)" % self.cents

m = Money(1234)
print(m, [m], (m,), {"k": m})
print("%s %r" % (m, m), "{} {!r}".format(m, m), f"{m} {m!r}", str(m) + repr(m))

class Plain:
    def __repr__(self):
        return "plain"

print(Plain(), str(Plain()), [Plain()])
