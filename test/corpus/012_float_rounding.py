# Halves go to the even neighbour; digits may be given.
for x in (0.5, 1.5, 2.5, -0.5, -1.5, 2.675, 1e16):
    print(x, round(x))
print("%.2f %.1f %.3f" % (round(3.14159, 2), round(2.25, 1), round(1234.5678, 3)))
print(int(1e6), int(-1e6), 7.0 // 2, -7.0 // 2, 7.5 % 2)
print(abs(-2.5), max(1.5, 2), min(3, 2.5), sum([0.5] * 4))
