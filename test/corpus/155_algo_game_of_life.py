# A glider and an oscillator on a torus.
def step(cells, w, h):
    n = {}
    for x, y in cells:
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                if dx or dy:
                    k = ((x + dx) % w, (y + dy) % h)
                    n[k] = n.get(k, 0) + 1
    return {k for k, c in n.items() if c == 3 or c == 2 and k in cells}

def draw(cells, w, h):
    for y in range(h):
        print("".join("#" if (x, y) in cells else "." for x in range(w)))

cells = {(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)}
draw(cells, 6, 5)
for gen in range(4):
    cells = step(cells, 6, 5)
print()
draw(cells, 6, 5)
blinker = {(1, 0), (1, 1), (1, 2)}
b2 = step(blinker, 9, 9)
print(sorted(b2), step(b2, 9, 9) == blinker)
for gen in range(40):
    cells = step(cells, 16, 16)
print(len(cells))
