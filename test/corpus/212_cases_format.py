# Expressions, each with its value or the class of the exception.
CASES = r'''
"{}".format(1)
"{} {}".format(1, 2)
"{1} {0}".format(1, 2)
"{a} {b}".format(a=1, b=2)
"{0}{0}".format("x")
"{{}}".format()
"{".format()
"}".format()
"{}".format()
"{a}".format()
"{} {1}".format(1, 2)
"{:5}|".format(1)
"{:<5}|".format(1)
"{:>5}|".format("a")
"{:^5}|".format("a")
"{:*^5}".format("a")
"{:05}".format(42)
"{:+}".format(42)
"{: }".format(42)
"{:-}".format(42)
"{:#x}".format(255)
"{:#b}".format(5)
"{:#o}".format(8)
"{:b}".format(5)
"{:X}".format(255)
"{:c}".format(65)
"{:n}".format(5)
"{:,}".format(1234567)
"{:s}".format("a")
"{:5s}|".format("ab")
"{:.2s}|".format("abc")
"{:5.1f}|".format(2.55)
"{:08.3f}".format(-3.14159)
"{:<8d}|".format(-5)
"{:=8d}".format(-5)
"{!r}".format("a")
"{!s}".format("a")
"{!r:>5}".format("a")
"{:{}}|".format("a", 4)
"{:{w}.{p}f}".format(3.14159, w=7, p=2)
"{:d}".format("a")
"{:s}".format(1)
"{:x}".format(1.5)
"{:d}".format(1.5)
f"{1 + 1}"
f"{'a'!r}"
f"{3:03d}"
f"{3.14159:.2f}"
f"{'x':>4}|"
f"{{}}"
f"{[1, 2][0]}"
f"{dict(a=1)['a']}"
f"{1}{2}" "z"
f"{'a' if 1 else 'b'}"
f"{len('abc')}"
f"{1 + 1=}"
"{:>{}}".format("x", 3)
"{:.0f}".format(1.5)
"{:10}|".format(1.5)
"{:>10}|".format("right")
"{:^11}|".format("middle")
"{:-<10}".format("dash")
"{:5}|".format(True)
"{}".format(None)
"{:5}|".format(None)
"{}".format([1, "a"])
"{}".format((1,))
"{}".format({1: 2})
"%s" % None
"%s" % [1]
"%d" % True
"%*d" % (5, 42)
"%.*f" % (2, 3.14159)
"%-+5d|" % 3
"%%"
"% " % ()
'''

for case in CASES.strip().split("\n"):
    try:
        print(case, "->", repr(eval(case)))
    except Exception as e:
        print(case, "->", type(e).__name__)
