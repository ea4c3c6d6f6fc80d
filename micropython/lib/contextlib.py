# Context managers made of generators, and the small ones.
class _Manager:
    def __init__(self, gen):
        self.gen = gen

    def __enter__(self):
        return next(self.gen)

    def __exit__(self, kind, value, trace):
        if kind is None:
            try:
                next(self.gen)
            except StopIteration:
                return False
            raise RuntimeError("generator didn't stop")
        try:
            self.gen.throw(value if value is not None else kind())
        except StopIteration as e:
            return e is not value
        except BaseException as e:
            if e is not value:
                raise
            return False
        raise RuntimeError("generator didn't stop after throw()")


def contextmanager(f):
    def make(*args, **kw):
        return _Manager(f(*args, **kw))

    return make


class closing:
    def __init__(self, thing):
        self.thing = thing

    def __enter__(self):
        return self.thing

    def __exit__(self, *exc):
        self.thing.close()


class suppress:
    def __init__(self, *kinds):
        self.kinds = kinds

    def __enter__(self):
        pass

    def __exit__(self, kind, value, trace):
        return kind is not None and issubclass(kind, self.kinds)


class nullcontext:
    def __init__(self, result=None):
        self.result = result

    def __enter__(self):
        return self.result

    def __exit__(self, *exc):
        pass


class ExitStack:
    def __init__(self):
        self._exits = []

    def __enter__(self):
        return self

    def enter_context(self, manager):
        result = manager.__enter__()
        self._exits.append(manager.__exit__)
        return result

    def callback(self, f, *args, **kw):
        self._exits.append(lambda *exc: f(*args, **kw) and False)
        return f

    def push(self, manager):
        self._exits.append(manager.__exit__)
        return manager

    def pop_all(self):
        other = ExitStack()
        other._exits, self._exits = self._exits, []
        return other

    def close(self):
        self.__exit__(None, None, None)

    def __exit__(self, kind, value, trace):
        first = value
        while self._exits:
            try:
                if self._exits.pop()(kind, value, trace):
                    kind = value = trace = None
            except BaseException as e:
                kind, value, trace = type(e), e, None
        if value is not None and value is not first:
            raise value
        return first is not None and value is None
