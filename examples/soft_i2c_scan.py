# The same with SoftI2C, as many tutorials have it.
from machine import Pin, SoftI2C

i2c = SoftI2C(scl=Pin(7), sda=Pin(6), freq=100000)
devices = i2c.scan()
if len(devices) == 0:
    print("No i2c device!")
else:
    print("i2c devices found:", len(devices))
    for device in devices:
        print("Decimal address:", device, "| Hexa address:", hex(device))
event_push("soft_scan", devices)
