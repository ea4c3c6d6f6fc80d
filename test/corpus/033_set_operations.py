# Set algebra.
a, b = {1, 2, 3, 4}, {3, 4, 5}
print(sorted(a | b), sorted(a & b), sorted(a - b), sorted(a ^ b))
print(a <= b, {3} < b, {3, 4, 5} == b, a >= {1}, a.isdisjoint({9}))
a.add(10)
a.discard(99)
a.remove(1)
print(sorted(a), 10 in a, len(a))
try:
    a.remove(99)
except KeyError:
    print("99 is absent")
a.update([7, 7, 7])
print(sorted(a), sorted(set("hello")))
print(sorted(a.union({0})), sorted(a.intersection([7, 10])), sorted(a.difference({7})))
f = frozenset([1, 2])
print({f: "frozen"}[frozenset([2, 1])], sorted(f | {3}))
print(set(), len(set()), sorted({x * x % 7 for x in range(20)}))
