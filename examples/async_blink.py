# Two LEDs at different rates, and a task that ends them.
import asyncio
from machine import Pin


async def blink(pin, ms):
    led = Pin(pin, Pin.OUT)
    try:
        while True:
            led.toggle()
            await asyncio.sleep_ms(ms)
    finally:
        led.off()


async def main():
    a = asyncio.create_task(blink(5, 10))
    b = asyncio.create_task(blink(4, 25))
    await asyncio.sleep(0.3)
    a.cancel()
    b.cancel()
    results = await asyncio.gather(a, b, return_exceptions=True)
    print([type(r).__name__ for r in results])


asyncio.run(main())
