# Source text as data: exec, eval, compile and namespaces.
print(eval("1 + 2 * 3"), eval("[x * x for x in range(4)]"))
ns = {"a": 5}
exec("b = a * 2\ndef f(x):\n    return x + b", ns)
print(ns["b"], ns["f"](1))
print(eval("a + b", ns), eval("a + c", {"a": 1}, {"c": 2}))
code = compile("total = sum(values)", "<made>", "exec")
ns = {"values": [1, 2, 3]}
exec(code, ns)
print(ns["total"])
expr = compile("x ** 2", "<made>", "eval")
print([eval(expr, {"x": n}) for n in range(5)])
for bad in ("1 +", "def", "x = = 1", "for in y: pass", "if True:\nprint(1)", "return 5", "'open", "(1", "break"):
    try:
        exec(bad)
        print(repr(bad), "accepted")
    except SyntaxError:
        print(repr(bad), "SyntaxError")
