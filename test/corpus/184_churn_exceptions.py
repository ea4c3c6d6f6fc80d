# Thousands of exceptions raised through a few frames.
class Odd(Exception):
    pass

def inner(i):
    if i % 2:
        raise Odd("odd", i)
    return i

def outer(i):
    try:
        return inner(i)
    finally:
        counts["finally"] += 1

counts = {"total": 0, "caught": 0, "finally": 0}
for i in range(3000):
    try:
        counts["total"] += outer(i)
    except Odd as e:
        counts["caught"] += e.args[1] & 1
print(sorted(counts.items()))
