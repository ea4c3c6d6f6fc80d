# The mathematical functions at points with known answers.
import math

print("%.6f %.6f %.6f" % (math.pi, math.e, math.sqrt(2)))
print("%.6f %.6f %.6f" % (math.sin(1), math.cos(1), math.tan(1)))
print("%.6f %.6f %.6f %.6f" % (math.asin(0.5), math.acos(0.5), math.atan(1), math.atan2(-1, -1)))
print("%.6f %.6f %.6f" % (math.exp(1), math.log(10), math.log(8, 2)))
print("%.6f %.6f" % (math.pow(2, 0.5), math.fmod(7.5, 2)))
print(math.floor(2.7), math.floor(-2.7), math.ceil(2.1), math.ceil(-2.1), math.trunc(-2.9))
print(math.fabs(-3), math.copysign(1, -0.0), math.modf(2.5), math.frexp(8), math.ldexp(0.5, 4))
print("%.4f %.4f" % (math.degrees(math.pi), math.radians(180)))
print(math.isnan(float("nan")), math.isinf(float("-inf")), math.isfinite(1.0))
for f, x in ((math.sqrt, -1), (math.log, 0), (math.asin, 2), (math.log, -1)):
    try:
        print(f(x))
    except ValueError:
        print("ValueError")
