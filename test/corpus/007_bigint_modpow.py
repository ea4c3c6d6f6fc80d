# Modular exponentiation: a tiny RSA round trip and Fermat tests.
p, q = 1000003, 1000033
n = p * q
phi = (p - 1) * (q - 1)
e = 65537

def egcd(a, b):
    x0, x1, y0, y1 = 1, 0, 0, 1
    while b:
        quot, a, b = a // b, b, a % b
        x0, x1 = x1, x0 - quot * x1
        y0, y1 = y1, y0 - quot * y1
    return a, x0, y0

g, d, _ = egcd(e, phi)
d %= phi
print(g, (d * e) % phi)
message = 123456789
cipher = pow(message, e, n)
print(cipher, pow(cipher, d, n) == message)
print([k for k in range(3, 60, 2) if pow(2, k - 1, k) == 1])
print(pow(3, 1000, 10 ** 20))
