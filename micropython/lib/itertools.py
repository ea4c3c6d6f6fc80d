# Iterators over iterators.
def count(start=0, step=1):
    while True:
        yield start
        start += step


def cycle(p):
    saved = []
    for x in p:
        yield x
        saved.append(x)
    while saved:
        for x in saved:
            yield x


def repeat(x, times=None):
    while times is None or times > 0:
        yield x
        if times is not None:
            times -= 1


def islice(p, start, stop=(), step=1):
    if stop == ():
        start, stop = 0, start
    if start is None:
        start = 0
    it = iter(p)
    k = 0
    while stop is None or k < stop:
        try:
            x = next(it)
        except StopIteration:
            return
        if k >= start and (k - start) % step == 0:
            yield x
        k += 1


class _Chain:
    def __call__(self, *p):
        return self.from_iterable(p)

    def from_iterable(self, p):
        for i in p:
            for x in i:
                yield x


chain = _Chain()


def accumulate(p, func=lambda a, b: a + b, initial=None):
    it = iter(p)
    if initial is None:
        try:
            initial = next(it)
        except StopIteration:
            return
    yield initial
    for x in it:
        initial = func(initial, x)
        yield initial


def starmap(f, p):
    for args in p:
        yield f(*args)


def tee(p, n=2):
    p = list(p)
    return tuple(iter(p) for _ in range(n))


def takewhile(f, p):
    for x in p:
        if not f(x):
            return
        yield x


def dropwhile(f, p):
    it = iter(p)
    for x in it:
        if not f(x):
            yield x
            break
    for x in it:
        yield x


def filterfalse(f, p):
    for x in p:
        if not (f(x) if f else x):
            yield x


def compress(p, selectors):
    for x, s in zip(p, selectors):
        if s:
            yield x


def pairwise(p):
    it = iter(p)
    for a in it:
        break
    else:
        return
    for b in it:
        yield a, b
        a = b


def zip_longest(*p, fillvalue=None):
    its = [iter(i) for i in p]
    left = len(its)
    while left:
        row = []
        for k in range(len(its)):
            try:
                row.append(fillvalue if its[k] is None else next(its[k]))
            except StopIteration:
                left -= 1
                its[k] = None
                row.append(fillvalue)
        if left:
            yield tuple(row)


def groupby(p, key=None):
    group = ()  # no group yet: a key may be None
    last = None
    for x in p:
        k = key(x) if key else x
        if group == () or k != last:
            if group != ():
                yield last, iter(group)
            group, last = [], k
        group.append(x)
    if group != ():
        yield last, iter(group)


def product(*p, repeat=1):
    pools = [tuple(i) for i in p] * repeat
    if not all(pools):
        return
    at = [0] * len(pools)
    while True:
        yield tuple(pools[k][at[k]] for k in range(len(pools)))
        k = len(pools) - 1
        while k >= 0:
            at[k] += 1
            if at[k] < len(pools[k]):
                break
            at[k] = 0
            k -= 1
        if k < 0:
            return


def _choices(n, r, order, again):
    # Indices in CPython's order: all different when order counts, ascending when it does not, equal ones allowed with again.
    def rest(chosen):
        if len(chosen) == r:
            yield chosen
            return
        first = 0 if order or not chosen else chosen[-1] + (0 if again else 1)
        for k in range(first, n):
            if not order or k not in chosen:
                for x in rest(chosen + (k,)):
                    yield x

    return rest(())


def _picked(p, r, order, again):
    pool = tuple(p)
    for chosen in _choices(len(pool), len(pool) if r is None else r, order, again):
        yield tuple(pool[k] for k in chosen)


def permutations(p, r=None):
    return _picked(p, r, True, False)


def combinations(p, r):
    return _picked(p, r, False, False)


def combinations_with_replacement(p, r):
    return _picked(p, r, False, True)
