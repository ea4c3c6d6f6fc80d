for _ in range(30):
    a = [(k * 7919) % 1000 for k in range(2000)]
    a.sort()
    b = [x for x in a if x % 3]
    b.reverse()
    c = sum(b[10:-10])
