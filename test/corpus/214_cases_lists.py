# Expressions, each with its value or the class of the exception.
CASES = r'''
[1, 2] + [3]
[1] * 3
[] * 3
[1, 2] == [1, 2]
[1, 2] < [1, 3]
[1] < [1, 0]
[1, 2] != (1, 2)
[1, 2, 3][1]
[1, 2, 3][-1]
[1, 2, 3][3]
[1, 2, 3][1:]
[1, 2, 3][::-1]
[1, 2, 3, 4][::2]
[1, 2, 3][5:]
[1, 2, 3][-2:]
[1, 2, 3][:]
[1, 2] + (3,)
[1, 2]["a"]
2 in [1, 2]
[1, 2].index(2)
[1, 2].index(3)
[1, 2, 1].index(1, 1)
[1, 2, 1].count(1)
len([1, [2, 3]])
sum([1, 2, 3])
sum([1, 2], 10)
sum([[1], [2]], [])
min([3, 1, 2])
max([3, 1, 2])
min([])
max([], default=5)
max(1, 3, 2)
max(["a", "bbb", "cc"], key=len)
sorted([3, 1, 2])
sorted([3, 1, 2], reverse=True)
sorted(["b", "A", "c"], key=lambda s: s.lower())
sorted([1, "a"])
list(reversed([1, 2, 3]))
list(range(5))
list(range(2, 10, 3))
list(range(5, 0, -2))
list(range(0))
range(5)[2]
range(5)[-1]
range(10)[2:5]
range(10)[::3]
len(range(0, 10, 3))
3 in range(5)
range(1, 2, 0)
range(1.5)
list(enumerate("ab"))
list(enumerate("ab", 1))
list(zip([1, 2], "ab"))
list(zip([1, 2], "a"))
list(zip())
list(map(str, [1, 2]))
list(map(lambda a, b: a + b, [1, 2], [3, 4]))
list(filter(None, [0, 1, "", "a"]))
list(filter(lambda x: x > 1, [1, 2, 3]))
any([0, 1])
any([])
all([1, 0])
all([])
[x * 2 for x in range(3)]
[x for x in range(5) if x % 2]
[(x, y) for x in range(2) for y in range(2)]
[[0] * 2 for _ in range(2)]
list("abc")
list((1, 2))
list({1: 2})
list(5)
tuple([1, 2])
tuple("ab")
(1,) + (2,)
(1, 2) * 2
(1, 2)[0]
(1, 2)[2]
(1, 2) < (1, 3)
(1, 2) == (1, 2)
(1, 2).index(2)
(1, 1).count(1)
()
(1,)
hash((1, 2)) == hash((1, 2))
hash([1])
1, 2
isinstance([], list)
isinstance((), (list, tuple))
type([]) is list
[1, 2] is [1, 2]
bool([])
bool([0])
next(iter([1]))
next(iter([]), "end")
next(iter([]))
iter(5)
'''

for case in CASES.strip().split("\n"):
    try:
        print(case, "->", repr(eval(case)))
    except Exception as e:
        print(case, "->", type(e).__name__)
