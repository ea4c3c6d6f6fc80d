# Parse NMEA sentences of a GPS on UART 1.
from machine import UART
import time

uart = UART(1, baudrate=9600, tx=17, rx=18, timeout=200)


def checksum_ok(line):
    body, _, given = line[1:].partition("*")
    x = 0
    for ch in body:
        x ^= ord(ch)
    return given[:2] == "%02X" % x


def degrees(value, hemisphere):
    dot = value.index(".")
    d = int(value[:dot - 2]) + float(value[dot - 2:]) / 60
    return -d if hemisphere in "SW" else d


fix = None
deadline = time.ticks_add(time.ticks_ms(), 8000)
while fix is None and time.ticks_diff(deadline, time.ticks_ms()) > 0:
    line = uart.readline()
    if not line:
        continue
    text = line.decode().strip()
    if text[3:6] == "GGA" and text[0] == "$" and checksum_ok(text):
        f = text.split(",")
        if f[6] != "0":
            fix = degrees(f[2], f[3]), degrees(f[4], f[5])

print(fix)
event_push("gps", {"lat": round(fix[0], 4), "lon": round(fix[1], 4)})
