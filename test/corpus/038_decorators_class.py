# Decorating classes and decorating with an instance.
registry = {}

def register(cls):
    registry[cls.__name__] = cls
    return cls

@register
class Red:
    def paint(self):
        return "red"

@register
class Blue:
    def paint(self):
        return "blue"

for name in sorted(registry):
    print(name, registry[name]().paint())

class CountCalls:
    def __init__(self, f):
        self.f = f
        self.calls = 0

    def __call__(self, *a):
        self.calls += 1
        return self.f(*a)

@CountCalls
def square(x):
    return x * x

print(square(3), square(4), square.calls)
