# sorted is stable; keys may be tuples, functions or negated numbers.
people = [("Ann", 31), ("Bob", 25), ("Cid", 31), ("Dee", 25), ("Eve", 40)]
print(sorted(people, key=lambda p: (p[1], p[0])))
print(sorted(people, key=lambda p: (-p[1], p[0])))
print(sorted([5, 3, 9, 1], reverse=True), sorted("cab"), sorted({3, 1, 2}))
a = [(2, "b"), (1, "z"), (2, "a")]
a.sort()
print(a)
a.sort(key=lambda t: t[1])
print(a)
print(sorted([[3], [1, 2], [1]]), sorted([True, False, 0.5]))
try:
    sorted([1, "a"])
except TypeError:
    print("cannot compare")
words = "sort these words by length then by letters".split()
print(sorted(words, key=lambda w: (len(w), w)))
