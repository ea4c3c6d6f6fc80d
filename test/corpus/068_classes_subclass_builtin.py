# Deriving from list, dict and exceptions.
class Stack(list):
    def push(self, v):
        self.append(v)

    def top(self):
        return self[-1]

s = Stack([1])
s.push(2)
s.push(3)
print(len(s), s.top(), s.pop(), s[0], 2 in s, [x for x in s])

class Defaults(dict):
    def read(self, k):
        return self[k] if k in self else "default"

d = Defaults()
d["a"] = 1
print(d.read("a"), d.read("b"), len(d), sorted(d.keys()))

class Celsius(float):
    def f(self):
        return self * 9 / 5 + 32

print(Celsius(100).f())
