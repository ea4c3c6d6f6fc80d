# Expressions, each with its value or the class of the exception.
CASES = r'''
0.5
1.0
-0.0
1e10
1e16
1e-5
123456.789
0.1
1.5e300 * 1e300
-1e308 * 10
1 / 3
10 / 4
7.5 // 2
-7.5 // 2
7.5 % 2
-7.5 % 2
divmod(7.5, 2)
2.0 ** 0.5
2 ** 0.5
1.0 // 0
1.0 % 0
1.0 / 0
float("1.5")
float("  2e3 ")
float("inf")
float("-inf")
float("nan") == float("nan")
float("x")
float("")
float("1_0")
float(3)
int(2.9)
int(float("inf"))
int(float("nan"))
round(1.25, 1)
round(-1.5)
round(0.5)
round(1234.5678, -2)
abs(-2.5)
max(1, 2.5)
min(1, 2.5)
sum([0.5, 0.25])
1 == 1.0
1.5 > 1
True + 0.5
0.1 + 0.2 == 0.3
abs(0.1 + 0.2 - 0.3) < 1e-9
"%.2f" % 3.14159
"%8.3f|" % 3.14159
"%+.1f" % 2.0
"%e" % 12345.678
"%.3e" % 0.00012
"%g" % 1e10
"%g" % 0.0001
"%g" % 100000
"%g" % 1000000
"{:.3f}".format(2.0)
"{:10.2f}|".format(3.14159)
"{:<10.2f}|".format(3.14159)
"{:^10.2f}|".format(3.14159)
"{:+.2f}".format(1.5)
"{:e}".format(1234.5)
"{:g}".format(0.5)
"{:%}".format(0.25)
"{:.1%}".format(0.256)
f"{1.5:.3f}"
f"{2.0}"
str(1e100)
repr(0.25)
'''

for case in CASES.strip().split("\n"):
    try:
        print(case, "->", repr(eval(case)))
    except Exception as e:
        print(case, "->", type(e).__name__)
