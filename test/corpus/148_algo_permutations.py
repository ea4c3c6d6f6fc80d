# Permutations, combinations and subsets by generator.
def permutations(items):
    if not items:
        yield []
    for i in range(len(items)):
        for rest in permutations(items[:i] + items[i + 1:]):
            yield [items[i]] + rest

def combinations(items, k):
    if k == 0:
        yield ()
        return
    for i in range(len(items) - k + 1):
        for rest in combinations(items[i + 1:], k - 1):
            yield (items[i],) + rest

print(list(permutations([1, 2, 3])))
print(sum(1 for _ in permutations(list(range(6)))))
print(["".join(c) for c in combinations("abcd", 2)])
print([[x for i, x in enumerate("xyz") if n >> i & 1] for n in range(8)])
print("".join(sorted(set("".join(p) for p in permutations(list("aab"))))[1]))

def next_permutation(a):
    i = len(a) - 2
    while i >= 0 and a[i] >= a[i + 1]:
        i -= 1
    if i < 0:
        return False
    j = len(a) - 1
    while a[j] <= a[i]:
        j -= 1
    a[i], a[j] = a[j], a[i]
    a[i + 1:] = a[i + 1:][::-1]
    return True

a, n = [1, 1, 2, 3], 1
while next_permutation(a):
    n += 1
print(n, a)
