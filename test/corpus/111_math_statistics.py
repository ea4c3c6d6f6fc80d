# Mean, variance, median, least squares.
import math

data = [2.5, 3.5, 8.0, 1.0, 9.5, 4.0, 6.5]
n = len(data)
mean = sum(data) / n
var = sum((x - mean) ** 2 for x in data) / (n - 1)
med = sorted(data)[n // 2]
print("%.3f %.3f %.3f %.3f" % (mean, var, math.sqrt(var), med))
xs = range(n)
sx, sy = sum(xs), sum(data)
sxy = sum(x * y for x, y in zip(xs, data))
sxx = sum(x * x for x in xs)
slope = (n * sxy - sx * sy) / (n * sxx - sx * sx)
print("%.4f %.4f" % (slope, (sy - slope * sx) / n))

def gcd(a, b):
    while b:
        a, b = b, a % b
    return a

print(gcd(1071, 462), gcd(17, 5), 12 * 18 // gcd(12, 18))
print("%.5f" % math.sqrt(sum((a - b) ** 2 for a, b in zip((1, 2, 3), (4, 6, 3)))))
