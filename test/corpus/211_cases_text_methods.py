# Expressions, each with its value or the class of the exception.
CASES = r'''
"abc".upper()
"ABC".lower()
"abc".find("c")
"abc".find("x")
"abcabc".rfind("b")
"abc".index("b")
"abc".index("x")
"abcabc".rindex("c")
"abcabc".count("bc")
"aaaa".count("aa")
"abc".count("")
"abc".startswith("ab")
"abc".startswith("b", 1)
"abc".endswith("bc")
"abc".startswith("")
"a,b,c".split(",")
"a,b,c".split(",", 1)
"a,b,c".rsplit(",", 1)
" a  b ".split()
"".split()
"".split(",")
"a,,b".split(",")
"a b c".split(None, 1)
"abc".split("")
"a\nb\r\nc".splitlines()
"a\nb\n".splitlines(True)
"abc".partition("b")
"abc".partition("x")
"abcbd".rpartition("b")
"abc".rpartition("x")
",".join(["a", "b"])
"".join([])
",".join("abc")
",".join([1])
"  x ".strip()
"xxabxx".strip("x")
"xxabxx".lstrip("x")
"xxabxx".rstrip("x")
"abcba".strip("ab")
"abc".replace("b", "XX")
"aaa".replace("a", "b", 2)
"abc".replace("", "-")
"abc".center(7)
"abc".center(2)
"a1".isdigit()
"12".isdigit()
"".isdigit()
"abc".isalpha()
"ab1".isalpha()
" \t\n".isspace()
"".isspace()
"ABC".isupper()
"Abc".isupper()
"abc".islower()
"123".islower()
"abc"[1]
"abc"[-1]
"abc"[3]
"abc"[1:]
"abc"[:-1]
"abcdef"[4:1]
"abcdef"[-3:]
"abcdef"[10:]
"abc" * 2
"abc" * 0
"abc" * -1
2 * "ab"
"a" + "b"
"a" + 1
"a" * 1.5
"b" in "abc"
"" in "abc"
"x" not in "abc"
1 in "abc"
len("abc")
ord("A")
chr(65)
ord("ab")
"a" < "b"
"a" < "B"
"abc" < "abd"
"ab" < "abc"
"a" == b"a"
"a" < 1
min("hello")
max("hello")
sorted("hello")
list("abc")
tuple("ab")
"abc".encode()
"é".encode()
str(b"abc", "utf-8")
b"abc".decode()
repr("a'b")
repr('a"b')
repr("a'\"b")
repr("\n\t\\")
repr("\x01\x7f")
"%s" % "x"
"%r" % "x"
"%5s|" % "x"
"%-5s|" % "x"
"%.2s" % "xyz"
"%c" % 65
"%c" % "z"
"%d%%" % 5
"%s %s" % (1, 2)
"%s" % (1,)
"%s %s" % (1,)
"%s" % (1, 2)
"%(a)s-%(b)d" % {"a": 1, "b": 2}
"%x %X %o" % (255, 255, 8)
"%05d" % 42
"%+d" % 42
"% d" % 42
"%#x" % 255
"%i" % 3.7
"%d" % "a"
'''

for case in CASES.strip().split("\n"):
    try:
        print(case, "->", repr(eval(case)))
    except Exception as e:
        print(case, "->", type(e).__name__)
