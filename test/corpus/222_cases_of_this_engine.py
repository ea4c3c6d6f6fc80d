# micropython-only
# Expressions that this engine answers in a way of its own, each with its value or the class of the exception.
import array, binascii, json, re, struct

CASES = r'''
round(2.675, 2)
(-8) ** (1 / 3)
"%-8.1f|" % 2.25
3.0.is_integer() if hasattr(3.0, "is_integer") else True
"abc"[::-1]
"abcdef"[1:5:2]
chr(0x20ac)
"{0[1]}".format([1, 2])
"{0.real}".format(1)
f"{5 = }"
"{:.0f}".format(0.5)
"%5.1f|%-6s|%03d" % (2.25, "ab", 7)
b"abc"[::-1]
b"abc" + "d"
b"\xff".decode()
range(3) == range(0, 3)
[*range(3), *"ab"]
list(iter(lambda: 1, 1))
{**{"a": 1}, "a": 2}
isinstance(True, int)
issubclass(bool, int)
type(None)() is None
slice(1, 2, 3).start
[1, 2, 3][slice(0, 2)]
1j ** 2
struct.pack("<?", True)
struct.pack("<BB", 1)
struct.unpack("<H", b"\x01")
struct.unpack_from("<H", b"\x00\x01\x02", 2)
struct.pack("<Z", 1)
json.loads('"\\u00e9"')
json.loads("")
json.loads("[1")
json.loads("{a: 1}")
json.loads("nul")
json.loads('{"a" 1}')
json.loads('"caf\u00e9"')
re.search("b", "abc").group()
re.match("(a)(b)", "abc").groups()
re.match("(a)(x)?", "abc").groups()
re.match("(?:ab)+(c)", "ababc").groups()
re.match(".", "\n")
re.match("a", "abc").start()
re.match("a", "abc").end()
re.match("(a)(b)", "abc").span(2)
re.match("(", "a")
re.match("[", "a")
re.match("*", "a")
re.match(r"(\d+)-(\d+)", "10-20").groups()
re.search("(\\w+)=(\\w+)", "x; key=val").groups()
binascii.unhexlify("0")
binascii.a2b_base64("aGVsbG8=")
OSError(2).errno
array.array("b", [200])
'''

for case in CASES.strip().split("\n"):
    try:
        print(case, "->", repr(eval(case)))
    except Exception as e:
        print(case, "->", type(e).__name__)
