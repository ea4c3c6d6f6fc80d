# A small Sudoku (4 by 4 and one easy 9 by 9) by backtracking with the fewest choices first.
def solve(g, n, b):
    best = None
    for i in range(n * n):
        if not g[i]:
            r, c = divmod(i, n)
            used = {g[r * n + k] for k in range(n)} | {g[k * n + c] for k in range(n)}
            r0, c0 = r - r % b, c - c % b
            used |= {g[(r0 + y) * n + c0 + x] for y in range(b) for x in range(b)}
            free = [v for v in range(1, n + 1) if v not in used]
            if best is None or len(free) < len(best[1]):
                best = (i, free)
                if len(free) < 2:
                    break
    if best is None:
        return True
    i, free = best
    for v in free:
        g[i] = v
        if solve(g, n, b):
            return True
    g[i] = 0
    return False

small = [1, 0, 0, 0, 0, 0, 3, 0, 0, 4, 0, 0, 0, 0, 0, 2]
print(solve(small, 4, 2), small)
big = [int(c) for c in "534678912672195348198342567850761423406853791713924850961537284287410635345286170"]
print(solve(big, 9, 3), big[27:36], sum(big))
print(solve([1, 1, 0, 0] + [0] * 12, 4, 2) and "found", solve([1, 2, 3, 0, 0, 0, 0, 4] + [0] * 8, 4, 2))
