# assert with and without a message.
assert True
assert 1 < 2, "never shown"
try:
    assert 1 > 2
except AssertionError as e:
    print("bare", e.args)
try:
    assert [], "list is empty"
except AssertionError as e:
    print("message", e, e.args)

def check(x):
    assert isinstance(x, int), "need an int, got " + type(x).__name__
    return x

for v in (1, "a"):
    try:
        print(check(v))
    except AssertionError as e:
        print(e)
