def g(n):
    for k in range(n): yield k
t = 0
for _ in range(30):
    for x in g(5000): t += x
