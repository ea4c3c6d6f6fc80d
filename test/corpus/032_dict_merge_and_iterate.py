# Merging, inverting, grouping and counting.
a, b = {"x": 1, "y": 2}, {"y": 3, "z": 4}
m = dict(a)
m.update(b)
print(sorted(m.items()))
print(sorted((a | b).items()))
a |= {"w": 0}
print(sorted(a))
inv = {v: k for k, v in b.items()}
print(sorted(inv.items()))
groups = {}
for w in "one two three four five six seven".split():
    groups.setdefault(len(w), []).append(w)
for n in sorted(groups):
    print(n, groups[n])
counts = {}
for c in "mississippi":
    counts[c] = counts.get(c, 0) + 1
print(sorted(counts.items(), key=lambda kv: (-kv[1], kv[0])))
