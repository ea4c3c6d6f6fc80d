# Long-integer temporaries under constant pressure.
x, y = 1, 1
for i in range(1, 250):
    x = x * i + y
    y = (y << 3) ^ i
    if x > 10 ** 60:
        x %= 10 ** 37
print(x, y % 10 ** 20)
a = 3
for _ in range(9):
    a = a * a
print(len(str(a)), a % 10 ** 12)
