# Expressions, each with its value or the class of the exception.
CASES = r'''
7 // 2
-7 // 2
7 // -2
-7 // -2
7 % 3
-7 % 3
7 % -3
divmod(-7, 3)
divmod(7, -3)
2 ** 10
2 ** -1
(-2) ** 3
0 ** 0
5 / 2
-5 / 2
1 << 40
-1 >> 3
1 << 0
6 & 3
6 | 3
6 ^ 3
~6
-6 & 3
-6 | 3
abs(-7)
pow(3, 4, 5)
pow(2, 100, 1000007)
int("0x1f", 16)
int("1f", 16)
int("0b101", 0)
int("0o17", 0)
int("  42  ")
int("-7")
int("+7")
int("z", 36)
int("1_000")
int(3.99)
int(-3.99)
int(True)
int("")
int("4.5")
int("12", 2)
int("1", 40)
int(b"12")
1 // 0
1 % 0
divmod(1, 0)
1 << -1
round(7)
round(2.5)
round(3.5)
round(-2.5)
bin(10)
bin(-10)
hex(255)
hex(-255)
oct(8)
0xff
0b11
0o17
1_000_000
bool(0)
bool(-1)
10 if 0 else 20
3 > 2 > 1
3 > 2 == 2
(5).to_bytes(2, "big")
(1000).to_bytes(4, "little")
int.from_bytes(b"\x01\x00", "big")
int.from_bytes(b"\x01\x00", "little")
int.from_bytes(b"", "big")
'''

for case in CASES.strip().split("\n"):
    try:
        print(case, "->", repr(eval(case)))
    except Exception as e:
        print(case, "->", type(e).__name__)
