# Dictionaries: insert, look up, update, delete, iterate.
total = 0
for turn in range(60):
    d = {}
    for i in range(500):
        d["k%d" % (i % 250)] = i
        d[i] = i * 2
    for i in range(500):
        total += d[i] + d.get("k%d" % i, 1)
    for i in range(0, 500, 2):
        del d[i]
    for k, v in d.items():
        total += v
    total += len(d)
print(total)
