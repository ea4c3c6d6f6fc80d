# Modules of the library that CPython has too; library.out is what CPython 3.11 prints.
import contextlib, itertools, functools, typing, bisect, traceback, warnings
from typing import Optional, List
def f(x: Optional[List[int]] = None) -> "int": return 1
print(f())
T = typing.TypeVar("T")
class G(typing.Generic[T]): pass
@contextlib.contextmanager
def cm(n):
    print("in", n)
    try: yield n
    except ValueError: print("caught")
    finally: print("out", n)
with cm(1) as x: print(x)
with cm(2): raise ValueError
try:
    with cm(3): raise KeyError(4)
except KeyError as e: print("K", e)
with contextlib.suppress(OSError, KeyError): raise KeyError
with contextlib.ExitStack() as s:
    s.enter_context(cm(7)); s.callback(print, "cb"); print("body")
with contextlib.ExitStack() as s:
    s.enter_context(contextlib.suppress(ValueError)); s.enter_context(cm(8)); raise ValueError
@functools.lru_cache(maxsize=None)
def fib(n): return n if n < 2 else fib(n-1)+fib(n-2)
print(fib(80), fib.cache_info()[:2])
print(list(itertools.product("ab", (1,2))), list(itertools.permutations(range(3)))[3], list(itertools.combinations("abcd",2))[-1], list(itertools.combinations_with_replacement("ab",2)))
print([(k, list(g)) for k,g in itertools.groupby([1,1,2,None,None,1])], list(itertools.zip_longest("abc",[1],fillvalue=0)))
print(list(itertools.islice(itertools.count(), 2, 10, 3)), list(itertools.chain.from_iterable(["ab","c"])), list(itertools.chain("a","b")), list(itertools.repeat(1,0)))
print(list(itertools.product(repeat=0)), list(itertools.product([], [1])), list(itertools.pairwise([1,2,3])), list(itertools.accumulate([1,2,3], initial=5)))
print(sorted([3,1,2], key=functools.cmp_to_key(lambda a,b: b-a)), functools.reduce(lambda a,b:a+b, [], 3), functools.partial(print, 1, sep="-")(2))
print(bisect.bisect([1,2,2,3],2), bisect.bisect_left([1,2,2,3],2))
try: raise KeyError(5)
except Exception as e: print(traceback.format_exception(e)[-1])
@functools.lru_cache(maxsize=2)
def seen(n):
    print("asked", n)
    return n
for n in (1, 2, 1, 3, 2, 3): seen(n)
print(list(itertools.takewhile(lambda x: x < 3, [1, 2, 3, 1])), list(itertools.dropwhile(lambda x: x < 3, [1, 2, 3, 1])))
print(list(itertools.filterfalse(None, [0, 1, "", 2])), list(itertools.compress("abcd", [1, 0, 1])), list(itertools.starmap(pow, [(2, 3), (3, 2)])))
a, b = itertools.tee([1, 2])
print(list(a), list(b), next(itertools.cycle("xy")), list(itertools.islice(itertools.cycle("xy"), 5)))
print(list(itertools.permutations("abc", 2)), len(list(itertools.combinations(range(6), 3))), list(itertools.combinations([1], 2)))
print(list(itertools.islice([1, 2, 3], None)), list(itertools.islice([1, 2, 3, 4], 1, None, 2)))
data = []
for x in (3, 1, 2, 1): bisect.insort(data, x)
print(data)
with contextlib.closing(open(__file__ if "__file__" in globals() else "/lib/typing.py")) as f: pass
try:
    with contextlib.ExitStack() as s:
        s.callback(print, "first in, last out")
        s.enter_context(contextlib.suppress(KeyError))
        raise ValueError("through")
except ValueError as e: print(e)
try:
    @contextlib.contextmanager
    def twice():
        yield 1
        yield 2
    with twice(): pass
except RuntimeError: print("twice")
