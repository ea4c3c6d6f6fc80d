# Conditional expressions nest to the right.
for n in (-5, 0, 5, 50):
    print(n, "neg" if n < 0 else "zero" if n == 0 else "small" if n < 10 else "big")
a = None
print(a or "default", a is None, a is not None)
print([("fizz" * (i % 3 == 0) + "buzz" * (i % 5 == 0)) or i for i in range(1, 16)])
x = 5
print((lambda: "yes" if x > 3 else "no")())
print(not (x > 3 and x < 4), x if x else -x)
