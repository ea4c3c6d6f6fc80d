def f():
    t = 0
    for k in range(300000):
        if k & 3: t += k * 2
    return t
f()
