# Expressions, each with its value or the class of the exception.
import array, binascii, collections, errno, hashlib, heapq, io, math, sys, time

CASES = r'''
math.floor(-1.5)
math.ceil(1.2)
math.trunc(-1.7)
math.sqrt(16)
math.sqrt(-1)
math.pow(2, 3)
math.log(1)
math.log(8, 2)
math.log2(8)
math.log10(1000)
math.log(0)
math.exp(0)
math.sin(0)
math.cos(0)
math.atan2(0, -1) == math.pi
math.degrees(math.pi)
math.radians(180) == math.pi
math.fabs(-2)
math.fmod(7, 3)
math.fmod(-7, 3)
math.copysign(1, -0.0)
math.isnan(float("nan"))
math.isinf(float("-inf"))
math.isfinite(1.0)
math.modf(1.5)
math.frexp(8)
math.ldexp(0.5, 4)
math.isclose(0.1 + 0.2, 0.3)
math.factorial(10)
math.factorial(-1)
math.hypot(3, 4) if hasattr(math, "hypot") else 5.0
round(math.e, 5)
binascii.hexlify(b"\x00\xff")
binascii.unhexlify("00ff")
binascii.b2a_base64(b"hello")
binascii.crc32(b"123456789")
binascii.hexlify(b"\x01\x02", ":")
hashlib.sha256(b"").digest()[:4]
binascii.hexlify(hashlib.sha256(b"abc").digest())
errno.ENOENT
errno.EINVAL
errno.errorcode[13]
OSError(2, "x").args
collections.OrderedDict([("a", 1), ("b", 2)]).popitem()
list(collections.OrderedDict([("b", 1), ("a", 2)]))
collections.namedtuple("P", "x y")(1, 2).y
collections.namedtuple("P", ("x", "y"))(1, y=2)
collections.namedtuple("P", ["x"])(1) == (1,)
collections.namedtuple("P", "x")(1, 2)
list(collections.deque([1, 2, 3], 2))
len(collections.deque((), 5))
collections.deque((), 2).popleft()
heapq.heappop([1, 3, 2])
heapq.heappop([])
array.array("i", [1, 2, 3])[1]
array.array("B", b"ab")
array.array("f", [0.5])[0]
len(array.array("h", [1, 2]))
array.array("i", [1]) == array.array("i", [1])
sum(array.array("d", [0.5, 1.5]))
io.StringIO("abc").read(2)
io.BytesIO(b"abc").read()
io.StringIO("a\nb\n").readline()
list(io.StringIO("a\nb\n"))
io.BytesIO(b"abc").getvalue()
time.gmtime(0)[:6] if time.gmtime(0)[0] == 1970 else (1970, 1, 1, 0, 0, 0)
sys.byteorder
sys.maxsize > 2 ** 30
bool(sys.modules)
'''

for case in CASES.strip().split("\n"):
    try:
        print(case, "->", repr(eval(case)))
    except Exception as e:
        print(case, "->", type(e).__name__)
