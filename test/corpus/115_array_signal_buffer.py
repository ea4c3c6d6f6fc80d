# A ring of samples held in an array, with min, max and a moving mean.
from array import array

class Samples:
    def __init__(self, size):
        self.buf = array("h", [0] * size)
        self.n = 0

    def put(self, v):
        self.buf[self.n % len(self.buf)] = v
        self.n += 1

    def last(self, k):
        size = len(self.buf)
        k = min(k, self.n, size)
        return [self.buf[(self.n - 1 - i) % size] for i in range(k)]

    def mean(self):
        k = min(self.n, len(self.buf))
        return sum(self.last(k)) / k

s = Samples(4)
for v in (100, -50, 300, 20, 7, 8):
    s.put(v)
    print(s.last(4), s.mean())
print(list(s.buf), max(s.buf), min(s.buf))
