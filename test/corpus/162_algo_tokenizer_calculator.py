# A tokenizer and a recursive-descent calculator with good errors.
class Parser:
    def __init__(self, text):
        self.tokens = self.lex(text)
        self.i = 0

    def lex(self, text):
        out, i = [], 0
        while i < len(text):
            c = text[i]
            if c.isspace():
                i += 1
            elif c.isdigit():
                j = i
                while j < len(text) and text[j].isdigit():
                    j += 1
                out.append(int(text[i:j]))
                i = j
            elif c in "+-*/()^%":
                out.append(c)
                i += 1
            else:
                raise SyntaxError("bad character %r at %d" % (c, i))
        return out + [None]

    def take(self, *kinds):
        if self.tokens[self.i] in kinds:
            self.i += 1
            return self.tokens[self.i - 1]

    def expr(self):
        v = self.term()
        while True:
            op = self.take("+", "-")
            if not op:
                return v
            r = self.term()
            v = v + r if op == "+" else v - r

    def term(self):
        v = self.factor()
        while True:
            op = self.take("*", "/", "%")
            if not op:
                return v
            r = self.factor()
            v = v * r if op == "*" else v // r if op == "/" else v % r

    def factor(self):
        if self.take("-"):
            return -self.factor()
        v = self.atom()
        return v ** self.factor() if self.take("^") else v

    def atom(self):
        t = self.tokens[self.i]
        if isinstance(t, int):
            self.i += 1
            return t
        if self.take("("):
            v = self.expr()
            if not self.take(")"):
                raise SyntaxError("missing )")
            return v
        raise SyntaxError("unexpected %r" % t)

def calc(text):
    p = Parser(text)
    v = p.expr()
    if p.tokens[p.i] is not None:
        raise SyntaxError("trailing %r" % p.tokens[p.i])
    return v

for t in ("1 + 2 * 3", "(1 + 2) * 3", "2 ^ 3 ^ 2", "-2 ^ 2", "100 / 7 % 4", "((((5))))", "1 +", "(1", "2 $ 3", "1 2", "4 / 0"):
    try:
        print(t, "=", calc(t))
    except SyntaxError as e:
        print(t, "!", e.args[0])
    except ZeroDivisionError:
        print(t, "! division by zero")
