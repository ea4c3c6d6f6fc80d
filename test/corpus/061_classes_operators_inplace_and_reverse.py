# In-place operators, reflected operators, and the rest of the table.
class Log:
    def __init__(self, text=""):
        self.text = text

    def __iadd__(self, o):
        self.text += "+" + str(o)
        return self

    def __isub__(self, o):
        self.text += "-" + str(o)
        return self

    def __radd__(self, o):
        return "radd " + str(o)

    def __rsub__(self, o):
        return "rsub " + str(o)

    def __truediv__(self, o):
        return "div"

    def __floordiv__(self, o):
        return "floordiv"

    def __mod__(self, o):
        return "mod"

    def __pow__(self, o):
        return "pow"

    def __and__(self, o):
        return "and"

    def __or__(self, o):
        return "or"

    def __xor__(self, o):
        return "xor"

    def __lshift__(self, o):
        return "lshift"

    def __rshift__(self, o):
        return "rshift"

    def __invert__(self):
        return "invert"

    def __pos__(self):
        return "pos"

x = Log("start")
keep = x
x += 1
x -= 2
print(x.text, keep is x)
print(5 + x, 5 - x)
print(x / 1, x // 1, x % 1, x ** 1, x & 1, x | 1, x ^ 1, x << 1, x >> 1, ~x, +x)
