# All solutions of the queens' puzzle up to seven, and one board.
def solve(n, row=0, cols=(), d1=(), d2=()):
    if row == n:
        yield cols
        return
    for c in range(n):
        if c not in cols and row + c not in d1 and row - c not in d2:
            yield from solve(n, row + 1, cols + (c,), d1 + (row + c,), d2 + (row - c,))

for n in range(1, 7):
    print(n, sum(1 for _ in solve(n)))
first = next(solve(8))
print(first)
for c in first:
    print("." * c + "Q" + "." * (7 - c))
