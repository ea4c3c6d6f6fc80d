# A software display: pixels, lines, circles and text rows drawn into bytes.
class Screen:
    def __init__(self, w, h):
        self.w, self.h, self.buf = w, h, bytearray(w * h // 8)

    def pixel(self, x, y, on=None):
        if not (0 <= x < self.w and 0 <= y < self.h):
            return 0
        i, m = (y * self.w + x) // 8, 0x80 >> (x % 8)
        if on is None:
            return 1 if self.buf[i] & m else 0
        self.buf[i] = self.buf[i] | m if on else self.buf[i] & ~m & 255

    def line(self, x0, y0, x1, y1):
        dx, dy = abs(x1 - x0), -abs(y1 - y0)
        sx, sy = 1 if x0 < x1 else -1, 1 if y0 < y1 else -1
        err = dx + dy
        while True:
            self.pixel(x0, y0, 1)
            if x0 == x1 and y0 == y1:
                return
            e2 = 2 * err
            if e2 >= dy:
                err += dy
                x0 += sx
            if e2 <= dx:
                err += dx
                y0 += sy

    def circle(self, cx, cy, r):
        x, y, d = r, 0, 1 - r
        while x >= y:
            for px, py in ((x, y), (y, x), (-x, y), (-y, x), (x, -y), (y, -x), (-x, -y), (-y, -x)):
                self.pixel(cx + px, cy + py, 1)
            y += 1
            if d < 0:
                d += 2 * y + 1
            else:
                x -= 1
                d += 2 * (y - x) + 1

    def show(self):
        for y in range(self.h):
            print("".join(".#"[self.pixel(x, y)] for x in range(self.w)))

s = Screen(32, 13)
s.line(0, 0, 12, 12)
s.line(0, 12, 12, 0)
s.circle(22, 6, 5)
s.pixel(100, 100, 1)
s.show()
print(sum(bin(b).count("1") for b in s.buf))
