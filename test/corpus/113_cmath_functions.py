# Complex functions.
import cmath

r, phi = cmath.polar(3 + 4j)
print("%.4f %.4f" % (r, phi))

def show(z):
    print("%.4f %.4f" % (z.real, z.imag))

show(cmath.rect(2, cmath.pi / 6))
show(cmath.exp(1j * cmath.pi))
show(cmath.sqrt(-4))
show(cmath.log(1j))
print("%.4f" % cmath.phase(-1 + 0j))
