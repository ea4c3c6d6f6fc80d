# Long integers to text in three bases and back.
n = 3 ** 150 - 2 ** 100
for text, base in ((str(n), 10), (hex(n), 16), (bin(n), 2), (oct(n), 8)):
    print(len(text), int(text, base if base == 10 else 0) == n)
print("%d" % n)
print("{:,}".format(12345678901234567890))
print(int("-" + "9" * 40) + 1)
print(n.to_bytes(30, "big")[:4], int.from_bytes(n.to_bytes(32, "little"), "little") == n)
