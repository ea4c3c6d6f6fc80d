# An interrupt sets a flag that a coroutine waits for.
import asyncio
from machine import Pin

flag = asyncio.ThreadSafeFlag()
button = Pin("BUTTON_B", Pin.IN, Pin.PULL_UP)
button.irq(lambda p: flag.set(), Pin.IRQ_FALLING)
led = Pin("LED", Pin.OUT)


async def main():
    print("waiting")
    await asyncio.wait_for(flag.wait(), 10)
    led.on()
    print("flagged")


asyncio.run(main())
button.irq(None)
