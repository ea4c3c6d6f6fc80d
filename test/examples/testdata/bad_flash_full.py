import os

block = bytes(65536)
names = []
error = None
try:
    for n in range(10):
        name = "/flash/big%d" % n
        names.append(name)
        with open(name, "wb") as f:
            for _ in range(16):
                f.write(block)
except OSError as e:
    error = e.errno
print("full", error)
for name in names:
    os.remove(name)
with open("/flash/after.txt", "w") as f:
    f.write("room")
