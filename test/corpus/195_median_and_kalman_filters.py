# Smoothing a noisy signal three ways.
def noise(n, seed=42):
    out, x = [], seed
    for i in range(n):
        x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
        out.append(50 + (x >> 24) / 64 - 2 + (40 if i % 11 == 5 else 0))
    return out

def median(values, k):
    out = []
    for i in range(len(values)):
        w = sorted(values[max(0, i - k + 1):i + 1])
        out.append(w[len(w) // 2])
    return out

def ema(values, a):
    y = values[0]
    for v in values:
        y += a * (v - y)
        yield y

def kalman(values, q, r):
    x, p = values[0], 1.0
    for z in values[1:]:
        p += q
        k = p / (p + r)
        x += k * (z - x)
        p *= 1 - k
    return x, p

v = noise(44)
spread = lambda s: max(s) - min(s)
m = median(v, 5)
print("%.3f %.3f" % (spread(v), spread(m)))
print("%.4f" % list(ema(m, 0.2))[-1])
print("%.4f %.5f" % kalman(m, 0.01, 1.0))
