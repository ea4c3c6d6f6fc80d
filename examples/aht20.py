# Read an AHT20 with its checksum, by registers.
from machine import I2C, Pin
import time

ADDR = 0x38
i2c = I2C(0, scl=Pin(7), sda=Pin(6), freq=100000)


def crc8(data):
    crc = 0xFF
    for b in data:
        crc ^= b
        for _ in range(8):
            if crc & 0x80:
                crc = ((crc << 1) ^ 0x31) & 0xFF
            else:
                crc = (crc << 1) & 0xFF
    return crc


def read_aht20():
    status = i2c.readfrom(ADDR, 1)[0]
    if not status & 0x08:
        i2c.writeto(ADDR, b"\xbe\x08\x00")
        time.sleep_ms(10)
    i2c.writeto(ADDR, b"\xac\x33\x00")
    time.sleep_ms(80)
    data = i2c.readfrom(ADDR, 7)
    while data[0] & 0x80:
        time.sleep_ms(5)
        data = i2c.readfrom(ADDR, 7)
    if crc8(data[:6]) != data[6]:
        raise OSError("AHT20 checksum")
    raw_h = (data[1] << 12) | (data[2] << 4) | (data[3] >> 4)
    raw_t = ((data[3] & 0x0F) << 16) | (data[4] << 8) | data[5]
    return raw_t / 1048576 * 200 - 50, raw_h / 1048576 * 100


temperature, humidity = read_aht20()
print("%.1f C %.1f %%" % (temperature, humidity))
event_push("climate", {"t": round(temperature, 1), "h": round(humidity, 1)})
