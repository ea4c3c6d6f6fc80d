# Each operand of a chained comparison is evaluated once, and lazily.
def v(n):
    print("eval", n)
    return n

print(v(1) < v(2) < v(3))
print(v(5) < v(2) < v(3))
print(v(0) and v(1))
print(v(1) or v(2))
print([v(i) for i in (1, 2)][v(0)])
d = {}
d[v("k")] = v("v")
print(d)
def args(*a, **k): return len(a) + len(k)
print(args(v(1), v(2), x=v(3)))
