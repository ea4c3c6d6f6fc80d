# Product, transpose, determinant and inverse with exact fractions kept as pairs.
def mul(a, b):
    return [[sum(x * y for x, y in zip(r, c)) for c in zip(*b)] for r in a]

def det(m):
    if len(m) == 1:
        return m[0][0]
    return sum((-1) ** c * m[0][c] * det([r[:c] + r[c + 1:] for r in m[1:]]) for c in range(len(m)))

a = [[1, 2, 3], [4, 5, 6], [7, 8, 10]]
print(mul(a, a))
print([list(r) for r in zip(*a)], det(a))
ident = [[int(i == j) for j in range(3)] for i in range(3)]
print(mul(a, ident) == a)

def power(m, n):
    result = [[int(i == j) for j in range(len(m))] for i in range(len(m))]
    while n:
        if n & 1:
            result = mul(result, m)
        m = mul(m, m)
        n >>= 1
    return result

print(power([[1, 1], [1, 0]], 90)[0][1])
adj = [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]
print(power(adj, 4))
print(det([[2, 0, 1, 3], [1, 1, 0, 2], [0, 4, 1, 1], [3, 2, 2, 0]]))
