# Names for annotations, which MicroPython does not look at: anything may be indexed, called for, and left as it is.
class _Any:
    def __getitem__(self, _):
        return self

    def __or__(self, _):
        return self

    __ror__ = __or__

    def __call__(self, *args, **kw):
        return args[0] if args and callable(args[0]) else self


Any = Union = Optional = List = Dict = Set = FrozenSet = Tuple = Type = Callable = Iterable = Iterator = Generator = _Any()
Sequence = Mapping = MutableMapping = MutableSequence = Awaitable = Coroutine = AsyncIterator = AsyncIterable = Literal = Any
Final = ClassVar = Annotated = NoReturn = Self = TypeAlias = Text = AnyStr = Deque = DefaultDict = NamedTuple = Any
TYPE_CHECKING = False


class _Plain:
    pass


class _Generic:
    # Generic[T] is a class to inherit from; a class of the engine itself cannot be indexed.
    def __getitem__(self, _):
        return _Plain


Generic = _Generic()


class Protocol:
    pass


def TypeVar(name, *args, **kw):
    return Any


def NewType(name, base):
    return base


def cast(kind, value):
    return value


def overload(f):
    return f


final = runtime_checkable = no_type_check = overload


def get_type_hints(obj):
    return {}
