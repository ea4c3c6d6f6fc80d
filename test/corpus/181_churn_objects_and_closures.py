# Instances, bound methods, closures and generators as garbage.
class Node:
    def __init__(self, v):
        self.v = v
        self.link = self

    def get(self):
        return self.v

total = 0
for i in range(1500):
    n = Node(i)
    f = n.get
    g = (lambda k: lambda: k + f())(1)
    total += g() + sum(x for x in range(3))
print(total)
cycle = None
for i in range(500):
    a, b = [i], {}
    a.append(b)
    b["a"] = a
    cycle = a
print(cycle[0], cycle[1]["a"] is cycle)
