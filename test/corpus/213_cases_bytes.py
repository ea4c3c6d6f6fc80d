# Expressions, each with its value or the class of the exception.
CASES = r'''
b"abc"
b"\x00\xff"
b"a'b"
bytes(3)
bytes([1, 2, 3])
bytes("abc", "utf-8")
bytes("abc")
bytes([256])
bytes(-1)
bytes(range(3))
b"abc"[0]
b"abc"[-1]
b"abc"[3]
b"abc"[1:]
b"abc" + b"d"
b"ab" * 2
b"a" in b"abc"
97 in b"abc"
b"abc".find(b"c")
b"abc".replace(b"b", b"X")
b"a,b".split(b",")
b" a ".strip()
b",".join([b"a", b"b"])
b"abc".upper()
b"abc".startswith(b"a")
b"abc" == b"abc"
b"abc" < b"abd"
b"" == b""
len(b"\x00\x01")
list(b"ab")
hash(b"a") == hash(b"a")
b"abc".hex()
bytes.fromhex("0aFF")
bytes.fromhex("0a ff")
bytes.fromhex("0")
bytes.fromhex("zz")
bytearray(b"abc")
bytearray(3)
bytearray("ab", "utf-8")
bytearray(b"ab") + b"c"
bytearray(b"ab") == b"ab"
bytearray(b"abc")[1:]
bytearray(b"abc")[-1]
bytes(bytearray(b"ab"))
memoryview(b"abc")[0]
bytes(memoryview(b"abc")[1:])
len(memoryview(b"abc"))
memoryview(b"abc") == b"abc"
list(memoryview(b"ab"))
b"%s" % b"a"
b"abc".decode("utf-8")
b"abc".count(b"b")
b"a\nb".split(b"\n")
b"abc".partition(b"b")
b"abcabc".rfind(b"b")
b"12".isdigit()
int(b"12")
b"abc".index(b"x")
sum(b"\x01\x02")
max(b"az")
sorted(b"ba")
bytes(b"x")
b"\t\n\r\\"
b'"'
repr(bytearray(b"\x00a"))
b"abc".center(5)
b"a" b"b"
'''

for case in CASES.strip().split("\n"):
    try:
        print(case, "->", repr(eval(case)))
    except Exception as e:
        print(case, "->", type(e).__name__)
