# The same number through several presentation types.
for x in (0.0, 1.0, -1.5, 3.14159265, 1234567.891, 0.000012345):
    print("%.3f|%10.2f|%-10.2f|%e|%g" % (x, x, x, x, x))
    print("{:.2f} {:8.3f} {:+.1f} {:e} {:g}".format(x, x, x, x, x))
print("{:.0%} {:.1%}".format(0.25, 0.1234))
print(f"{2/3:.4f} {100.0:.1f} {1e10:.0f}")
