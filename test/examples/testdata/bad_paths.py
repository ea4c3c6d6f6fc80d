import os

with open("/flash/bericht-ünïcödé.txt", "w") as f:
    f.write("grün")
assert "bericht-ünïcödé.txt" in os.listdir("/flash")
tries = (
    lambda: open("/etc/passwd"),
    lambda: open("/flash/../etc/passwd"),
    lambda: open("/lib/machine.py", "w"),
    lambda: open("/flash/../lib/x.py", "w"),
    lambda: os.rename("/flash/bericht-ünïcödé.txt", "/x.txt"),
    lambda: open("/flash/x.mpy", "wb"),
    lambda: os.remove("/lib"),
)
refused = 0
for f in tries:
    try:
        f()
    except OSError:
        refused += 1
print("refused", refused)
