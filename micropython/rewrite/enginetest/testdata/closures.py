def make(n):
    c = [0]
    def add(x):
        c[0] += x + n
        return c[0]
    return add
f = make(3)
for k in range(150000): f(k)
