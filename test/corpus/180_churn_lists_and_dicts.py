# Containers made and dropped in a loop, a few kept.
kept = []
for i in range(1500):
    row = {"id": i, "tags": [str(i), str(i * 2)], "pair": (i, i + 1)}
    if i % 500 == 0:
        kept.append(row)
print([(r["id"], r["tags"], r["pair"]) for r in kept])
total = 0
for i in range(300):
    total += sum([x * x for x in range(30)]) - len({x % 7 for x in range(30)})
print(total)
