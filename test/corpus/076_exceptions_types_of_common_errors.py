# The class of each everyday mistake.
cases = [
    "1 / 0", "1 % 0", "1.0 / 0", "1 // 0", "[][0]", "{}[1]", "int('x')", "int([])", "undefined_name",
    "'a' + 1", "None.x", "len(5)", "(1)()", "[1, 2].index(9)", "chr(-1)", "bytes([300])", "next(iter([]))",
    "float('1..2')", "'abc'.index('z')", "{[]: 1}", "(1, 2)[5]", "set().pop()", "[].pop()", "1 < 'a'",
    "'%d' % 'a'", "1 << -1", "ord('ab')", "min([])", "max()", "iter(3)", "import_missing()", "'a' * 'b'",
]
for c in cases:
    try:
        eval(c)
        print(c, "no error")
    except Exception as e:
        print(c, "->", type(e).__name__)
