# Replacing slices grows and shrinks a list.
a = list(range(8))
a[2:4] = ["x", "y", "z"]
print(a)
a[1:1] = [100]
print(a)
a[5:] = []
print(a)
a[:] = [1, 2, 3]
print(a)
del a[0:2]
print(a)
n = [[0] * 3 for _ in range(2)]
n[0][1] = 5
print(n)
shared = [[0] * 2] * 2
shared[0][0] = 1
print(shared)
