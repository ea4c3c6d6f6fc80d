# The list's own methods.
a = [3, 1, 2]
a.append(5)
a.insert(0, 9)
a.extend([7, 7])
print(a, len(a), a.index(2), a.count(7))
print(a.pop(), a.pop(0), a)
a.remove(1)
a.reverse()
print(a)
a.sort()
print(a, a[::-1], a + [0], a * 2)
b = a[:]
b[0] = 99
print(a, b, a == b, a < b)
c = a.copy()
c.clear()
print(a, c)
del a[1]
print(a)
a[1:] = [4, 5, 6]
print(a)
for bad in (lambda: a.remove(1000), lambda: [].pop(), lambda: a[50]):
    try:
        bad()
    except (ValueError, IndexError) as e:
        print(type(e).__name__)
