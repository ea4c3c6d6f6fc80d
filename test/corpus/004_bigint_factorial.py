# Factorials pass the machine word early; the digits must still be exact.
def factorial(n):
    result = 1
    for i in range(2, n + 1):
        result *= i
    return result

for n in (5, 12, 20, 25, 30, 50):
    print(n, factorial(n))
print(factorial(100) // factorial(98))
print(factorial(60) % 1000003)
print(len(str(factorial(200))))
