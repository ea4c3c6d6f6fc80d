# Carbon dioxide from an MH-Z19 on UART 1.
from machine import UART
import time

uart = UART(1, 9600, tx=17, rx=18, timeout=300)


def read_co2():
    uart.write(b"\xff\x01\x86\x00\x00\x00\x00\x00\x79")
    frame = uart.read(9)
    if not frame or len(frame) != 9 or frame[0] != 0xFF or frame[1] != 0x86:
        raise OSError("MH-Z19 frame")
    if (~sum(frame[1:8]) + 1) & 0xFF != frame[8]:
        raise OSError("MH-Z19 checksum")
    return frame[2] << 8 | frame[3]


ppm = read_co2()
print(ppm, "ppm")
event_push("co2", ppm)
