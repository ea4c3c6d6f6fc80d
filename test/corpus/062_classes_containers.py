# A container with length, items, membership and deletion.
class Ring:
    def __init__(self, size):
        self.items = [None] * size

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        if isinstance(i, int):
            return self.items[i % len(self.items)]
        return [self.items[k % len(self.items)] for k in range(i.start or 0, i.stop)]

    def __setitem__(self, i, v):
        self.items[i % len(self.items)] = v

    def __delitem__(self, i):
        self.items[i % len(self.items)] = None

    def __contains__(self, v):
        return v in self.items

    def __iter__(self):
        return iter(self.items)

r = Ring(3)
for i in range(5):
    r[i] = i * 10
print(list(r), len(r), r[-1], r[100], r[1:6])
print(40 in r, 0 in r)
del r[4]
print(list(r), bool(r), bool(Ring(0)))
