# A least-recently-used cache.
from collections import OrderedDict

class LRU:
    def __init__(self, size):
        self.size, self.d, self.hits, self.misses = size, OrderedDict(), 0, 0

    def get(self, k, make):
        if k in self.d:
            self.hits += 1
            v = self.d[k]
            del self.d[k]
        else:
            self.misses += 1
            v = make(k)
            if len(self.d) >= self.size:
                oldest = next(iter(self.d))
                print("evict", oldest)
                del self.d[oldest]
        self.d[k] = v
        return v

c = LRU(3)
for k in (1, 2, 3, 1, 4, 1, 2, 5, 1):
    c.get(k, lambda n: n * n)
print(list(c.d.items()), c.hits, c.misses)
