# Six sorts agree with the built-in one.
def bubble(a):
    for i in range(len(a)):
        for j in range(len(a) - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return a

def insertion(a):
    for i in range(1, len(a)):
        v, j = a[i], i - 1
        while j >= 0 and a[j] > v:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = v
    return a

def merge(a):
    if len(a) < 2:
        return a
    l, r, out = merge(a[:len(a) // 2]), merge(a[len(a) // 2:]), []
    while l and r:
        out.append((l if l[0] <= r[0] else r).pop(0))
    return out + l + r

def quick(a):
    if len(a) < 2:
        return a
    p = a[len(a) // 2]
    return quick([x for x in a if x < p]) + [x for x in a if x == p] + quick([x for x in a if x > p])

def shell(a):
    gap = len(a) // 2
    while gap:
        for i in range(gap, len(a)):
            j = i
            while j >= gap and a[j - gap] > a[j]:
                a[j - gap], a[j] = a[j], a[j - gap]
                j -= gap
        gap //= 2
    return a

def counting(a):
    low = min(a)
    n = [0] * (max(a) - low + 1)
    for v in a:
        n[v - low] += 1
    return [i + low for i, k in enumerate(n) for _ in range(k)]

data, x = [], 12345
for _ in range(60):
    x = (x * 1103515245 + 12345) % 2 ** 31
    data.append(x % 200 - 100)
want = sorted(data)
for f in (bubble, insertion, merge, quick, shell, counting):
    print(f.__name__, f(data[:]) == want)
print(want[:5], want[-5:])
