# Check digits.
def luhn(text):
    total = 0
    for i, c in enumerate(reversed(text)):
        d = int(c) * (1 + i % 2)
        total += d - 9 if d > 9 else d
    return total % 10 == 0

def isbn13(text):
    return sum(int(c) * (1, 3)[i % 2] for i, c in enumerate(text.replace("-", ""))) % 10 == 0

for n in ("4539578763621486", "4539578763621487", "0", "79927398713"):
    print(n, luhn(n))
print(isbn13("978-0-306-40615-7"), isbn13("978-0-306-40615-8"))
ean = "400638133393"
print(ean + str(-sum(int(c) * (1, 3)[i % 2] for i, c in enumerate(ean)) % 10))
