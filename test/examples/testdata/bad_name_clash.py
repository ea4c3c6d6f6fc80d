import sys

for name in ("machine", "time"):
    with open("/flash/%s.py" % name, "w") as f:
        f.write("FAKE = True\n")
sys.modules.pop("machine", None)  # even then
import machine
import time

machine.Pin(5, machine.Pin.OUT).on()
print("own", not hasattr(machine, "FAKE") and not hasattr(time, "FAKE"))
