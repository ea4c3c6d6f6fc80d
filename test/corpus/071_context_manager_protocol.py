# __enter__ and __exit__: values, exceptions, suppression, nesting.
class Tag:
    def __init__(self, name, swallow=False):
        self.name, self.swallow = name, swallow

    def __enter__(self):
        print("<%s>" % self.name)
        return self

    def __exit__(self, kind, value, tb):
        print("</%s>" % self.name, kind.__name__ if kind else None)
        return self.swallow

with Tag("a") as t:
    print("inside", t.name)
with Tag("outer"), Tag("inner") as i:
    print(i.name)
with Tag("quiet", swallow=True):
    raise ValueError("hidden")
try:
    with Tag("loud"):
        raise KeyError("seen")
except KeyError as e:
    print("outside", e.args[0])

def early():
    with Tag("return"):
        return "value"

print(early())
for n in range(3):
    with Tag("loop%d" % n):
        if n == 1:
            break
