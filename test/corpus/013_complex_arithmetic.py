# Complex numbers: arithmetic, parts, magnitude.
a = 3 + 4j
b = 1 - 2j
print(a + b, a - b, a * b)
print(a.real, a.imag, abs(a))
print(a == 3 + 4j, a != b, -a)
print((a / b).real, (a / b).imag)
print(complex(1, 2), complex(5))
print((1j ** 2).real)
