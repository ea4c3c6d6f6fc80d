# Lists: append, index, slice, comprehension, sort.
total = 0
for turn in range(60):
    a = []
    x = turn + 1
    for i in range(1000):
        x = (x * 75 + 74) % 65537
        a.append(x)
    b = [v * 2 for v in a if v & 1]
    a.sort()
    for i in range(0, 1000, 10):
        a[i] += b[i % len(b)]
    total += a[0] + a[-1] + sum(a[100:200]) + len(b)
print(total)
