class P:
    def __init__(self, x): self.x = x
    def step(self, d): self.x += d; return self
p = P(0)
for k in range(100000): p.step(k).step(-k)
for k in range(20000): P(k)
