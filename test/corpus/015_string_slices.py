# Every corner of slicing on text.
s = "abcdefghij"
print(s[0], s[-1], s[3:7], s[:3], s[7:], s[:-3], s[-3:])
print("".join(list(s)[::2]), "".join(reversed(s)), list(s)[8:2:-2])
print(repr(s[5:5]), repr(s[9:100]), repr(s[100:]), repr(s[-100:2]))
print(s[2:5] + s[:2] * 2)
try:
    s[10]
except IndexError as e:
    print("IndexError caught")
