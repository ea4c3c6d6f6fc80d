# Streams over a UART in asyncio.
import asyncio
from machine import UART

uart = UART(1, 115200, tx=17, rx=18)


async def sender():
    w = asyncio.StreamWriter(uart, {})
    for i in range(3):
        w.write(b"line %d\n" % i)
        await w.drain()
        await asyncio.sleep_ms(10)


async def receiver(out):
    r = asyncio.StreamReader(uart)
    for _ in range(3):
        out.append((await r.readline()).decode().strip())


async def main():
    lines = []
    await asyncio.gather(sender(), receiver(lines))
    return lines


lines = asyncio.run(main())
print(lines)
event_push("lines", lines)
