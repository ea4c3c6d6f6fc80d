# Hyperbolic, error and gamma functions.
import math

for name in ("sinh", "cosh", "tanh", "asinh", "expm1", "log2", "log10", "erf", "erfc", "gamma", "lgamma"):
    f = getattr(math, name)
    print(name, "%.6f" % f(1.5))
print("%.6f %.6f" % (math.acosh(2), math.atanh(0.5)))
print("%.3f" % math.gamma(6))
