# Every augmented operator on names, items and attributes.
x = 17
x += 3; print(x)
x -= 5; print(x)
x *= 4; print(x)
x //= 7; print(x)
x **= 3; print(x)
x %= 100; print(x)
x <<= 3; print(x)
x >>= 1; print(x)
x |= 3; print(x)
x &= 0x6F; print(x)
x ^= 0xFF; print(x)
x /= 8; print(x)
d = {"n": 1, "l": [1]}
d["n"] += 5
d["l"] += [2]
print(d["n"], d["l"])
class O: pass
o = O()
o.v = 2
o.v *= 21
a = [1, 2, 3]
a[1] -= 10
def idx():
    print("index once")
    return 2
a[idx()] += 1
print(o.v, a)
s = "ab"
s *= 2
s += "!"
t = (1,)
t += (2,)
print(s, t)
