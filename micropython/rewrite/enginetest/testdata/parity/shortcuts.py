# Values, names, tables, blocks of memory and JSON on both sides of what the rewrite does in a shorter way (../../lib/quick.mjs).
# The output is that of the stock engine.
import json, io
# keys of every kind, compared and looked up with each other
class S(str): pass
class E:
    def __init__(s, v): s.v = v
    def __eq__(s, o): return s.v == (o.v if isinstance(o, E) else o)
    def __hash__(s): return hash(s.v)
long = 'q' * 300
v = [0, 1, -1, 2, 7, True, False, None, 1.0, 0.5, 10**30, -10**30, 2**30, -2**30, 2**29, '', 'a', 'b', 'ab', 'a' + str(1), 'a1', 'a\x00b', 'a\x00c',
     'len', 'l' + 'en', 'x' * 255, 'x' * 256, long, 'q' * 299, b'', b'a', bytearray(b'a'), (), (1,), ('a', 1), S('a'), S('zz'), 'zz', E('a'), E(1), E(7), int, str, 1j, 1+0j]
print(''.join(str(int(a == b)) for a in v for b in v))
print(''.join(str(int(a != b)) for a in v for b in v))
h = [x for x in v if not isinstance(x, bytearray)]
d = {}
for k, x in enumerate(h): d[x] = k
print(len(d), [d[x] for x in h], len(set(h)), [x in set(h) for x in h])
for x in (3, 'ac', 'a2', 'a\x00d', 'y' * 255, 'x' * 257, S('b2'), -3, 10**31): print(d.get(x, 'none'), x in set(h))
# names: made at run time, looked up by attribute, more than the table of recent ones holds
class A: pass
o = A()
for k in range(1500): setattr(o, 'n%d' % (k * 7919), k)
print(sum(getattr(o, 'n' + str(k * 7919)) for k in range(1500)), hasattr(o, 'n1'), hasattr(o, 'n' + '7919'))
for n in (1, 2, 3, 254, 255):
    setattr(o, 'w' * n, n)
    print(n, getattr(o, 'w' * n), hasattr(o, 'w' * (n - 1)) if n > 1 else '')
for n in (256, 300):
    try: setattr(o, 'w' * n, n)
    except Exception as e: print(type(e), e)
print({'': 1}[''.join([])], [x for x in ('a\x00b', 'a\x00', '\x00')])
setattr(o, 'z\x00a', 1); setattr(o, 'z\x00b', 2)
print(getattr(o, 'z\x00a'), getattr(o, 'z\x00b'), hasattr(o, 'z\x00c'), hasattr(o, 'z'))
# tables that change while they are searched
d = {}
busy = False
class C:
    def __init__(s, v): s.v = v
    def __hash__(s): return 5
    def __eq__(s, o):
        global busy
        if not busy and len(d) < 40:
            busy = True; d[len(d) + 1000] = 1; busy = False
        return isinstance(o, C) and s.v == o.v
for k in range(6): d[C(k)] = k
print(len(d), sum(1 for k in range(6) if C(k) in d))
for k in range(200): d[k] = k
for k in range(0, 200, 3): del d[k]
for k in range(200): d['s%d' % k] = k
for k in range(1, 200, 3): d.pop(k)
print(len(d), sorted(k for k in d if isinstance(k, int) and k < 1000)[:20], sum(d[k] for k in d if isinstance(k, str)))
s = set()
for k in range(300): s.add(k * 37 % 251); s.discard(k % 7)
print(len(s), sum(s))
# blocks of every length, apart and overlapping
bad = 0
for n in range(70):
    a = bytearray((k * 7 + 1) & 255 for k in range(200))
    for to, at in ((0, 100), (100, 0), (50, 53), (53, 50), (50, 51), (51, 50), (50, 50), (50, 50 + n // 2), (50 + n // 2, 50), (60, 50), (50, 67)):
        b = bytearray(a); b[to:to + n] = memoryview(b)[at:at + n]
        w = [a[k] for k in range(200)]; w[to:to + n] = [a[k] for k in range(at, at + n)]
        bad += b != bytearray(w)
    l = list(range(n)); l.insert(n // 2, -1); bad += l != list(range(n // 2)) + [-1] + list(range(n // 2, n)); l.pop(n // 3 if n else 0); bad += len(l) != n
print('bad', bad)
for n in list(range(1, 80)) + list(range(480, 560)) + [1000, 5000]:
    x = bytearray(b'\xff' * n); x = None
    bad += any(bytearray(n)) or any([0] * n) or any(bytes(n))
    bad += ('%c' % 42) * n != '*' * n or '{:>{}}'.format('', n) != ' ' * n
print('bad', bad)
# JSON in and out
class W(io.IOBase):
    def __init__(s): s.l = []
    def write(s, b): s.l.append(bytes(b)); return len(b)
class R(io.IOBase):
    def __init__(s, t): s.t = t; s.k = 0
    def readinto(s, b):
        c = s.t[s.k:s.k + len(b)]; s.k += len(c); b[:len(c)] = c; return len(c)
t = 'é"\\/\n\r\t\x01\x1f\x7f€😀'
w = W(); json.dump({t: [t, 1, -2.5, None, True, {}, [], '']}, w); print(w.l)
print(json.dumps(t), repr(t), repr("it's"), repr('"\''), repr(b'a\x00"\xff'))
x = json.dumps([t, {'k': t}])
print(json.loads(x) == [t, {'k': t}], json.load(io.StringIO(x)) == json.load(io.BytesIO(x.encode())) == json.load(R(x.encode())))
f = io.StringIO(' [1, 2] [3] 4 ')
try: json.load(f)
except ValueError as e: print(e, f.tell(), f.read())
f = io.StringIO('xx[7] '); f.seek(2); print(json.load(f), f.tell())
for bad in ('', ' ', '[', '[1', '{"a"', '{"a":', '{"a":1,', '"abc', '"\\u00', 'nul', '1 2', '[1]]', '\x00', '[1\x00]', '{1:2}', '-', '1e5', '[,]', '[1,]'):
    for make in (lambda: json.loads(bad), lambda: json.load(R(bad.encode()))):
        try: print(make(), end=' ')
        except Exception as e: print(type(e).__name__, e, end=' ')
    print()
f = io.StringIO('[1]'); f.close()
try: json.load(f)
except Exception as e: print(type(e).__name__, e)
class B(io.IOBase):
    def readinto(s, b): raise OSError(5)
try: json.load(B())
except Exception as e: print(type(e).__name__, e)
