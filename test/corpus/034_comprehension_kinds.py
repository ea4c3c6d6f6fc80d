# Lists, sets, dictionaries and generators by comprehension.
print([x * x for x in range(6)])
print([x for x in range(20) if x % 3 == 0 if x % 2])
print([(x, y) for x in range(3) for y in range(x)])
print([[r * c for c in range(1, 4)] for r in range(1, 4)])
print(sorted({c for c in "abracadabra"}))
print(sorted({k: v for k, v in zip("abc", range(3))}.items()))
print(sum(x for x in range(101)), max(len(w) for w in ["a", "bbb", "cc"]))
print(any(x > 5 for x in range(7)), all(x < 5 for x in range(7)))
m = [[1, 2], [3, 4], [5, 6]]
print([n for row in m for n in row], [list(c) for c in zip(*m)])
x = "outer"
[x for x in range(3)]
print(x)
