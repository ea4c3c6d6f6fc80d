# Edit distance, longest common subsequence, knapsack and coin change.
def edit(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        prev, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            prev, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, prev + (x != y))
    return row[-1]

def lcs(a, b):
    t = [[""] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            t[i + 1][j + 1] = t[i][j] + x if x == y else max(t[i][j + 1], t[i + 1][j], key=len)
    return t[-1][-1]

def knapsack(items, cap):
    best = [0] * (cap + 1)
    for w, v in items:
        for c in range(cap, w - 1, -1):
            best[c] = max(best[c], best[c - w] + v)
    return best[cap]

def ways(amount, coins):
    n = [1] + [0] * amount
    for c in coins:
        for a in range(c, amount + 1):
            n[a] += n[a - c]
    return n[amount]

print(edit("kitten", "sitting"), edit("", "abc"), edit("flaw", "lawn"))
print(lcs("AGGTAB", "GXTXAYB"), lcs("abc", "xyz") == "")
print(knapsack([(1, 1), (3, 4), (4, 5), (5, 7)], 7), ways(100, (1, 5, 10, 25, 50)))
