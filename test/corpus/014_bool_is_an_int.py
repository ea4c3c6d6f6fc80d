# Truth values take part in arithmetic; emptiness is false.
print(True + True, True * 10, sum([True, False, True]), False == 0)
for v in (0, 1, "", "0", [], [0], {}, {1: 1}, (), (0,), None, 0.0, 0.1, b"", b"\0", set()):
    print(repr(v), bool(v), not v)
print(1 and 2, 0 and 2, 0 or 3, 4 or 5, not 0 or 7)
print(3 < 5 < 7, 3 < 5 > 7, 1 == 1.0 == True)
print([x for x in range(10) if 2 < x <= 6 != 5])
