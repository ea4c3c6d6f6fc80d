# A line turned through a circle, drawn as text.
import math

W, H = 33, 17
grid = [[" "] * W for _ in range(H)]
for k in range(12):
    a = math.pi * 2 * k / 12 + 0.001
    for r in range(2, 8):
        x, y = round(W // 2 + 2 * r * math.cos(a)), round(H // 2 + r * math.sin(a))
        grid[y][x] = "0123456789ab"[k]
for row in grid:
    print("".join(row).rstrip())
