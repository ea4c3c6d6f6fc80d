import math
x = 0.0
for k in range(100000): x = x * 0.99 + math.sin(k) * 2.5
