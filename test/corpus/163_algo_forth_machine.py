# A small stack language with definitions and conditionals.
class Forth:
    def __init__(self):
        self.stack, self.out = [], []
        two = lambda f: lambda: self.stack.append(f(*[self.stack.pop() for _ in "ab"][::-1]))
        self.words = {
            "+": two(lambda a, b: a + b), "-": two(lambda a, b: a - b), "*": two(lambda a, b: a * b),
            "<": two(lambda a, b: int(a < b)), "dup": lambda: self.stack.append(self.stack[-1]),
            "drop": self.stack.pop, "swap": lambda: self.stack.insert(-1, self.stack.pop()),
            "over": lambda: self.stack.append(self.stack[-2]), ".": lambda: self.out.append(str(self.stack.pop())),
        }

    def run(self, tokens):
        i = 0
        while i < len(tokens):
            t = tokens[i]
            if t == ":":
                end = tokens.index(";", i)
                body = tokens[i + 2:end]
                self.words[tokens[i + 1]] = lambda body=body: self.run(body)
                i = end
            elif t == "if":
                end = tokens.index("then", i)
                if not self.stack.pop():
                    i = end
            elif t == "then":
                pass
            elif t in self.words:
                self.words[t]()
            else:
                self.stack.append(int(t))
            i += 1

    def __call__(self, text):
        self.run(text.split())
        result, self.out = " ".join(self.out), []
        return result

f = Forth()
print(f("2 3 + 4 * ."))
print(f(": square dup * ; 7 square . 3 square square ."))
print(f(": fact dup 2 < if drop 1 then ; : abs dup 0 < if 0 swap - then ; -5 abs . 5 abs ."))
print(f("1 2 swap . . 8 9 over . . ."))
print(f(": gauss dup 0 < if 0 then dup . dup 1 - 0 over < if gauss then ; 4 gauss"), f.stack)
try:
    f("nonsense")
except ValueError:
    print("unknown word")
try:
    f("drop drop drop drop drop drop drop drop drop +")
except IndexError:
    print("stack underflow")
