# An elementary cellular automaton.
def evolve(row, rule):
    n = len(row)
    return [rule >> (row[(i - 1) % n] << 2 | row[i] << 1 | row[(i + 1) % n]) & 1 for i in range(n)]

for rule in (110, 90):
    row = [0] * 31
    row[30 if rule == 110 else 15] = 1
    print("rule", rule)
    for _ in range(12):
        print("".join(" *"[c] for c in row) + "|")
        row = evolve(row, rule)
