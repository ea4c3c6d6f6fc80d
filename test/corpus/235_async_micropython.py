# micropython-only
# What MicroPython adds: milliseconds, and a flag that may be set from anywhere. The deviations from CPython are the ones its
# documentation lists.
import asyncio
from time import ticks_ms, ticks_diff


async def main():
    t = ticks_ms()
    await asyncio.sleep_ms(20)
    print(ticks_diff(ticks_ms(), t) >= 19)
    await asyncio.sleep_ms(0)
    await asyncio.sleep_ms(-5)
    try:
        await asyncio.wait_for_ms(asyncio.Event().wait(), 10)
    except asyncio.TimeoutError:
        print("late")

    async def quick():
        return "quick"

    print(await asyncio.wait_for_ms(quick(), 100))
    try:
        asyncio.current_task().cancel()
    except RuntimeError as e:
        print(e)
    try:
        asyncio.create_task(5)
    except TypeError as e:
        print(e)
    print(issubclass(asyncio.TimeoutError, Exception), asyncio.TimeoutError is OSError)
    task = asyncio.create_task(quick())
    print(task.done(), task.coro is not None)
    await task
    print(task.done())
    counts = [0, 0]

    async def turn(k):
        while True:
            counts[k] += 1
            await asyncio.sleep_ms(0)

    a, b = asyncio.create_task(turn(0)), asyncio.create_task(turn(1))
    for k in range(1000):
        if counts[0] > 3:
            break
        await asyncio.sleep_ms(1)
    a.cancel()
    b.cancel()
    print(abs(counts[0] - counts[1]) <= 1, counts[0] > 3)


asyncio.run(main())
