# Starred and nested targets.
a, *b = [1, 2, 3, 4]
print(a, b)
*a, b = "xyz"
print(a, b)
a, *b, c = range(5)
print(a, b, c)
a, *b, c = (1, 2)
print(a, b, c)
(a, b), c = (1, 2), 3
print(a, b, c)
for i, (x, y) in enumerate([(1, 2), (3, 4)]):
    print(i, x, y)
[p, q] = [7, 8]
print(p, q)
def gather(*a, **k):
    return a, sorted(k.items())

print(gather(*range(2), *"ab", x=1, **{"y": 2}))
for bad in ("a, b = [1]", "a, b = [1, 2, 3]"):
    try:
        exec(bad)
    except ValueError:
        print("ValueError for", bad)
