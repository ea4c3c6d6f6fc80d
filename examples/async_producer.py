# A sensor task feeds a control task through an event and a lock.
import asyncio
from machine import ADC, Pin

reading = 0
ready = asyncio.Event()
lock = asyncio.Lock()


async def sample():
    global reading
    adc = ADC(Pin(2))
    for _ in range(10):
        async with lock:
            reading = adc.read()
        ready.set()
        await asyncio.sleep_ms(5)


async def control():
    led = Pin(5, Pin.OUT)
    for _ in range(5):
        await ready.wait()
        ready.clear()
        async with lock:
            led.value(1 if reading > 2000 else 0)


async def main():
    await asyncio.gather(sample(), control())


asyncio.run(main())
print(reading)
