# List the devices on I2C bus 0.
from machine import I2C, Pin

i2c = I2C(0, scl=Pin(7), sda=Pin(6), freq=400000)
found = i2c.scan()
print([hex(a) for a in found])
event_push("i2c_scan", found)
