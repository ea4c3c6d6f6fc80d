# Classes with __iter__ and __next__, and the older __getitem__ form.
class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n + 1

print(list(Countdown(4)), sum(Countdown(10)), max(Countdown(3)))
a, b, c = Countdown(3)
print(a, b, c, 2 in Countdown(3), 9 in Countdown(3))

class Squares:
    def __getitem__(self, i):
        if i >= 5:
            raise IndexError
        return i * i

print([x for x in Squares()])

class Bag:
    def __init__(self, *items):
        self.items = items

    def __iter__(self):
        for i in self.items:
            yield i

bag = Bag("x", "y")
print(list(zip(bag, bag)), dict(zip(bag, range(2))) == {"x": 0, "y": 1})
it = iter([1, 2, 3])
print(next(it), list(it), list(it))
