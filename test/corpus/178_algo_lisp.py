# A small Lisp: reader, environment, lambda and recursion.
def read(text):
    tokens = text.replace("(", " ( ").replace(")", " ) ").split()
    def parse():
        t = tokens.pop(0)
        if t == "(":
            out = []
            while tokens[0] != ")":
                out.append(parse())
            tokens.pop(0)
            return out
        try:
            return int(t)
        except ValueError:
            return t
    return parse()

class Env(dict):
    pass

def lookup(env, name):
    while env is not None:
        if name in env[0]:
            return env[0][name]
        env = env[1]
    raise NameError(name)

def ev(x, env):
    if isinstance(x, str):
        return lookup(env, x)
    if isinstance(x, int):
        return x
    op = x[0]
    if op == "if":
        return ev(x[2] if ev(x[1], env) else x[3], env)
    if op == "define":
        env[0][x[1]] = ev(x[2], env)
        return None
    if op == "lambda":
        return lambda *a: ev(x[2], (dict(zip(x[1], a)), env))
    f = ev(op, env)
    return f(*[ev(a, env) for a in x[1:]])

top = ({"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "<": lambda a, b: a < b,
        "list": lambda *a: list(a)}, None)
for line in ("(+ 1 (* 2 3))", "(define sq (lambda (x) (* x x)))", "(sq 12)",
             "(define fact (lambda (n) (if (< n 2) 1 (* n (fact (- n 1))))))", "(fact 10)",
             "(define add (lambda (a) (lambda (b) (+ a b))))", "((add 3) 4)", "(list 1 (sq 2) (fact 5))", "(nope 1)"):
    try:
        r = ev(read(line), top)
        if r is not None:
            print(line, "=>", r)
    except NameError as e:
        print(line, "=> unbound", e)
