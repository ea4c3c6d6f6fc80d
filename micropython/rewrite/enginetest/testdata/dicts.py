for _ in range(20):
    d = {}
    for k in range(2000): d[k * 7 % 4001] = k
    t = 0
    for k, v in d.items(): t += v
    for k in range(2000): t += d.get(k, 0)
