# Expressions, each with its value or the class of the exception.
CASES = r'''
abs(-3)
abs("a")
all(x > 0 for x in [1, 2])
any(x > 1 for x in [1, 2])
bin(5)
bool("False")
bool("")
callable(len)
callable(1)
chr(97)
chr(-1)
divmod(17, 5)
divmod(1.5, 0.5)
eval("1 + 2")
eval("1 +")
eval("x", {"x": 5})
eval("x + y", {"x": 1}, {"y": 2})
getattr("a", "upper")()
getattr("a", "nope")
getattr("a", "nope", 3)
hasattr([], "append")
hasattr([], "nope")
hash(1) == hash(1.0)
hash("a") == hash("a")
hex(16)
isinstance(1, int)
isinstance(1, (str, float))
isinstance(1, 5)
issubclass(int, object)
issubclass(1, int)
len("abc")
len(5)
len({})
list(map(abs, [-1, 2]))
max(3, 1, 2)
max("a", "b")
max()
max([1], [2])
max(1, "a")
min(2, 1)
min([1, 2], key=lambda x: -x)
oct(8)
ord("a")
pow(2, 3)
pow(2, -1)
pow(2, 3, 0)
pow(2.0, 3)
repr([1, "a", None, True, 1.5, (1,), {"k": b"v"}])
round(1.5)
round(1.567, 2)
round("a")
sorted((3, 1))
sorted([[2, 1], [1, 2]])
str(1.0)
str(None)
str([1])
str(True)
sum(x for x in range(4))
sum(["a"])
sum("ab")
type(1) is int
type(type(1)) is type
type("a")(5)
isinstance(lambda: 0, type(lambda: 1))
zip("ab", [1]).__next__()
NotImplemented is NotImplemented
Ellipsis is ...
None == 0
None is None
not None
1 and 0 or 3
[] or "x"
0 or None
1 and []
id(None) == id(None)
undefined_name
int is int
bool(object())
(lambda *a, **k: (a, k))(1, 2, x=3)
(lambda a, b=2: a + b)(1)
(lambda a: a)()
(lambda: 0)(1)
(lambda a: a)(b=1)
(lambda a, a2: a)(1, a2=2)
"abc".__len__() if hasattr("abc", "__len__") else 3
object() == object()
reversed([1, 2]).__next__()
list(reversed(range(3)))
list(reversed("abc"))
memoryview(b"ab")[0]
complex(1, 2)
complex(1, 2) * 1j
abs(3 + 4j)
(1 + 2j).imag
(1 + 2j) == complex(1, 2)
(1 + 2j) < 1
'''

for case in CASES.strip().split("\n"):
    try:
        print(case, "->", repr(eval(case)))
    except Exception as e:
        print(case, "->", type(e).__name__)
