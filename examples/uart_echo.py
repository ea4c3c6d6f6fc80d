# Send a line on UART 1 and read it back from the loopback.
from machine import UART, Pin
import time

uart = UART(1, 115200, tx=Pin(17), rx=Pin(18))
uart.init(115200, bits=8, parity=None, stop=1, timeout=500)
uart.write("hello uart\n")
line = uart.readline()
print(line)
event_push("uart", line.decode().strip())
