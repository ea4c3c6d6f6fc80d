# Numbers, text, tuples and None as keys; equal numbers share a slot.
d = {1: "int", "1": "str", (1,): "tuple", None: "none", b"1": "bytes", 2.5: "float"}
for k in (1, "1", (1,), None, b"1", 2.5, True, 1.0):
    print(repr(k), d[k])
d[True] = "bool"
print(len(d), d[1])
for bad in ([], {}, set()):
    try:
        d[bad] = 1
    except TypeError:
        print("unhashable", type(bad).__name__)
