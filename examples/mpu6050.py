# Acceleration and temperature from an MPU6050.
from machine import I2C
import struct

i2c = I2C(0)
ADDR = 0x68

assert i2c.readfrom_mem(ADDR, 0x75, 1)[0] == 0x68
i2c.writeto_mem(ADDR, 0x6B, b"\x00")  # wake up
i2c.writeto_mem(ADDR, 0x1C, b"\x00")  # 2 g
ax, ay, az, t, gx, gy, gz = struct.unpack(">7h", i2c.readfrom_mem(ADDR, 0x3B, 14))
print(ax / 16384, ay / 16384, az / 16384, t / 340 + 36.53)
event_push("imu", {"z": round(az / 16384, 2), "t": round(t / 340 + 36.53, 1)})
