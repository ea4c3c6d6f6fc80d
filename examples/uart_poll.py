# Wait for bytes on a UART with select.poll.
from machine import UART
import select

uart = UART(1, 115200, tx=17, rx=18)
poll = select.poll()
poll.register(uart, select.POLLIN)

print("empty:", poll.poll(20))
uart.write(b"ping")
events = poll.poll(500)
print(len(events), events[0][1] & select.POLLIN)
got = uart.read()
event_push("polled", got.decode())
