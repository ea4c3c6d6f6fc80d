# Towers of Hanoi, Gray code and the Josephus ring.
def hanoi(n, a="A", b="B", c="C"):
    if n:
        yield from hanoi(n - 1, a, c, b)
        yield a + c
        yield from hanoi(n - 1, b, a, c)

print(list(hanoi(3)), sum(1 for _ in hanoi(8)))
pegs = {"A": list(range(5, 0, -1)), "B": [], "C": []}
for move in hanoi(5):
    disc = pegs[move[0]].pop()
    assert not pegs[move[1]] or pegs[move[1]][-1] > disc
    pegs[move[1]].append(disc)
print(pegs["C"])
gray = [n ^ n >> 1 for n in range(16)]
print(["{:04b}".format(g) for g in gray[:8]])
print(all(bin(a ^ b).count("1") == 1 for a, b in zip(gray, gray[1:])))

def josephus(n, k):
    r = 0
    for i in range(2, n + 1):
        r = (r + k) % i
    return r + 1

print(josephus(41, 3), josephus(7, 2))
