# The Mandelbrot set in characters.
def escape(cx, cy, limit=30):
    x = y = 0.0
    for i in range(limit):
        x2, y2 = x * x, y * y
        if x2 + y2 > 4:
            return i
        x, y = x2 - y2 + cx, 2 * x * y + cy
    return limit

for row in range(-7, 8):
    print("".join(" .:-=+*#%@"[escape(col / 16, row / 6.5) // 3 if escape(col / 16, row / 6.5) < 30 else 9] for col in range(-34, 13)))
