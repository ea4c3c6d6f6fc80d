# Layout of source: semicolons, continuation, nested blocks, docstrings, empty bodies.
a = 1; b = 2; print(a + b)
if a: print("one line if")
total = (a +
         b
         )
print(total, [
    1,
    2,   # comment inside
], {"k":
    "v"})
def documented():
    "a docstring"
    pass
class Empty: pass
class AlsoEmpty:
    """nothing here"""
def ellipsis_body(): ...
print(documented(), ellipsis_body(), Empty().__class__.__name__)
for i in range(2):
    if i:
        while True:
            try:
                break
            finally:
                print("deep", i)
x = \
    5
print(x if x else 0)
if x == 1:
    pass
elif x == 5:
    print("elif")
else:
    print("else")
