# Assignment expressions in tests, loops and comprehensions.
data = [3, 8, 2, 9]
if (n := len(data)) > 3:
    print("long", n)
it = iter(data)
while (v := next(it, None)) is not None:
    print(v, end=" ")
print()
print([y for x in data if (y := x * 2) > 5])
print(y)
print((a := 1, b := a + 1, a + b))

def first_match(words, letter):
    if any((found := w).startswith(letter) for w in words):
        return found
    return None

print(first_match(["ant", "bee", "cat"], "b"))
def running(values):
    total = 0
    return [total := total + x for x in values]

print(running(data))
def f(x): return x
print(f(z := 5), z)
