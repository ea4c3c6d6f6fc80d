# What of functools programs use.
class partial:
    def __init__(self, func, *args, **kw):
        self.func = func
        self.args = args
        self.keywords = kw

    def __call__(self, *args, **kw):
        if self.keywords:
            merged = self.keywords.copy()
            merged.update(kw)
            kw = merged
        return self.func(*(self.args + args), **kw)


_NONE = object()


def reduce(function, iterable, initial=_NONE):
    it = iter(iterable)
    if initial is _NONE:
        for initial in it:
            break
        else:
            raise TypeError("reduce() of empty iterable with no initial value")
    for x in it:
        initial = function(initial, x)
    return initial


def update_wrapper(wrapper, wrapped, assigned=None, updated=None):
    return wrapper  # a function has no attributes to take over


def wraps(wrapped, assigned=None, updated=None):
    return lambda wrapper: wrapper


class _Cached:
    def __init__(self, f, size):
        self.__wrapped__ = f
        self._size = size
        self.cache_clear()

    def cache_clear(self):
        self._found = {}
        self._order = []
        self._hits = self._misses = 0

    def cache_info(self):
        return self._hits, self._misses, self._size, len(self._found)

    def __call__(self, *args, **kw):
        key = (args, tuple(sorted(kw.items()))) if kw else args
        if key in self._found:
            self._hits += 1
            if self._size is not None:
                self._order.remove(key)
                self._order.append(key)
            return self._found[key]
        self._misses += 1
        result = self.__wrapped__(*args, **kw)
        if self._size != 0:
            if self._size is not None:
                if len(self._order) >= self._size:
                    del self._found[self._order.pop(0)]
                self._order.append(key)
            self._found[key] = result
        return result


def lru_cache(maxsize=128, typed=False):
    if callable(maxsize):
        return _Cached(maxsize, 128)
    return lambda f: _Cached(f, maxsize)


def cache(f):
    return _Cached(f, None)


def cmp_to_key(compare):
    class Key:
        def __init__(self, value):
            self.value = value

        def __lt__(self, other):
            return compare(self.value, other.value) < 0

    return Key
