# Expressions, each with its value or the class of the exception.
CASES = r'''
{"a": 1}["a"]
{"a": 1}["b"]
{"a": 1}.get("a")
{"a": 1}.get("b")
{"a": 1}.get("b", 2)
"a" in {"a": 1}
1 in {"a": 1}
len({"a": 1, "b": 2})
list({"a": 1}.keys())
list({"a": 1}.values())
list({"a": 1}.items())
sorted({"b": 1, "a": 2})
dict(a=1)
dict([("a", 1)])
dict({"a": 1}, b=2) == {"a": 1, "b": 2}
dict(zip("ab", [1, 2])) == {"a": 1, "b": 2}
dict([1])
{"a": 1} == {"a": 1}
{"a": 1} == {"a": 2}
{"a": 1, "b": 2} == {"b": 2, "a": 1}
{1: "x"}[1.0]
{True: "x"}[1]
{(1, 2): 3}[1, 2]
{[1]: 2}
{}
{x: x * x for x in range(1)}
{"a": 1}.pop("a")
{"a": 1}.pop("b")
{"a": 1}.pop("b", 5)
{"a": 1}.popitem()
{}.popitem()
{"a": 1}.setdefault("a", 2)
{"a": 1}.setdefault("b", 2)
{"a": 1}.copy()
dict.fromkeys(["a"], 0)
dict.fromkeys(["a"])
{"a": 1} | {"b": 2} == {"a": 1, "b": 2}
bool({})
max({"a": 2, "bb": 1})
max({"a": 2, "b": 1}, key={"a": 2, "b": 1}.get)
{1, 2} == {2, 1}
{1} | {1}
{1, 2} & {2, 3}
{1, 2} - {2}
{1} ^ {1}
{1} <= {1, 2}
{1, 2} < {1, 2}
{1, 2} >= {1}
{1}.issubset({1, 2})
{1, 2}.issuperset({1})
{1}.isdisjoint({2})
len({1, 1, 2})
len(set("hello"))
sorted(set([3, 1, 3]))
set()
frozenset([1]) == {1}
hash(frozenset([1])) == hash(frozenset([1]))
{frozenset([1]): 2}[frozenset([1])]
{1}.union([1])
{1, 2}.difference([2])
{1, 2}.intersection([1])
{1}.symmetric_difference([1])
1 in {1, 2}
[1] in {1}
{1}.pop()
set().pop()
{1}.remove(2)
{1}.discard(2)
{1}.add(2)
{1}.copy()
set([[1]])
{1} + {2}
sum({1, 2})
sorted({x % 3 for x in range(9)})
isinstance({}, dict)
type({1}) is set
list({"x": 0, "x": 1}.values())
{"a": {"b": [1, 2]}}["a"]["b"][1]
'''

for case in CASES.strip().split("\n"):
    try:
        print(case, "->", repr(eval(case)))
    except Exception as e:
        print(case, "->", type(e).__name__)
