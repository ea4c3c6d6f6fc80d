# The driver's second part, in the same names: what a job's value is, and where its last expression starts.


def jsonable(v, depth):
    t = type(v)
    if v is None or t is bool or t is int or t is str:
        return True
    if t is float:
        return v - v == 0
    if depth <= 0:
        return False
    if t is list or t is tuple:
        for x in v:
            if not jsonable(x, depth - 1):
                return False
        return True
    if t is dict:
        for k, x in v.items():
            if type(k) is not str or not jsonable(x, depth - 1):
                return False
        return True
    return False


def respond(v, strict):
    if jsonable(v, 30):
        n = answer(1, dumps(v))
    elif strict:
        raise TypeError("a value that JSON cannot hold: " + repr(v))
    else:
        n = answer(0, repr(v))
    if n is not None:
        raise ValueError("value of %d bytes is too long to return" % n)


VALUE = "__pal_value__"
COMPOUND = ("if", "for", "while", "with", "try", "def", "class", "async", "elif", "else", "except", "finally")


def compiled(text, mode):
    try:
        return compile(text, "<stdin>", mode)
    except SyntaxError:
        return None


def split(code):
    # Cut code into statements and a last expression, both compiled; the expression becomes an assignment, so that errors in
    # it name its line. Every line that starts a statement may start the expression; on one line so may what follows a
    # semicolon. The first line at which the code falls into two parts that compile is where the last statement starts.
    # Without an expression at the end the second is None.
    whole = compile(code, "<stdin>", "exec")
    lines = code.rstrip().split("\n")
    for k in range(len(lines) - 1, -1, -1):
        line = lines[k]
        if not line or line[0] in " \t#)]}":
            continue
        found = cut("\n".join(lines[:k]), "\n".join(lines[k:]), k)
        if found:
            return found
        rest = "\n".join(lines[k:])
        if not compiled(rest + "\n", "exec") or not compiled("\n".join(lines[:k]) + "\n", "exec"):
            continue
        word = line.split("(")[0].split(":")[0].split(" ")[0]
        at = -1 if word in COMPOUND or word[:1] == "@" else rest.rfind(";")
        while at >= 0:
            found = cut("\n".join(lines[:k] + [rest[:at]]), rest[at + 1:].strip(), k + rest[:at].count("\n"))
            if found:
                return found
            at = rest.rfind(";", 0, at)
        break
    return whole, None


def cut(head, tail, line):
    if not tail or not compiled(tail, "eval"):
        return None
    head = compiled(head + "\n", "exec")
    if not head:
        return None
    return head, compile("\n" * line + VALUE + " = (" + tail + "\n)", "<stdin>", "exec")
