# Arrays of machine numbers.
from array import array

a = array("i", [1, 2, 3])
a.append(4)
a.extend(array("i", [5]))
print(a, len(a), a[0], a[-1], list(a[1:3]), sum(a))
a[0] = -100
print(list(a), bytes(array("B", [1, 2, 3])), bytes(array("H", [1, 256])))
f = array("f", [0.5, 1.25])
print(list(f), array("d", [1.1])[0])
print(bytes(memoryview(array("B", b"hello"))[1:4]))
b = array("B", bytearray(4))
b[2] = 255
print(b, a == array("i", [-100, 2, 3, 4, 5]))
for bad in (lambda: array("Z", [1]), lambda: a[99]):
    try:
        bad()
    except (ValueError, IndexError) as e:
        print(type(e).__name__)
