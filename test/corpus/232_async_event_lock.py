# Event and Lock: who waits, who goes first, what is refused.
import asyncio


async def main():
    e = asyncio.Event()
    print(e.is_set())

    async def waits(n):
        print(n, "waits")
        print(n, "woken", await e.wait())

    tasks = [asyncio.create_task(waits(n)) for n in range(3)]
    await asyncio.sleep(0)
    print("set")
    e.set()
    print(e.is_set())
    for t in tasks:
        await t
    print(await e.wait())
    e.clear()
    print(e.is_set())
    e.set()
    e.set()
    e.clear()
    try:
        await asyncio.wait_for(e.wait(), 0.01)
    except asyncio.TimeoutError:
        print("nobody set it")

    lock = asyncio.Lock()
    order = []

    async def uses(n):
        async with lock:
            order.append(("in", n, lock.locked()))
            await asyncio.sleep(0)
            order.append(("out", n))

    await asyncio.gather(uses(1), uses(2), uses(3))
    print(order, lock.locked())
    try:
        lock.release()
    except RuntimeError:
        print("not held")
    print(await lock.acquire(), lock.locked())

    async def second():
        await lock.acquire()
        print("second has it")
        lock.release()

    t = asyncio.create_task(second())
    await asyncio.sleep(0)
    t2 = asyncio.create_task(second())
    await asyncio.sleep(0)
    t.cancel()
    try:
        await t
    except asyncio.CancelledError:
        print("first waiter gives up")
    lock.release()
    await t2
    print(lock.locked())
    try:
        async with lock:
            raise ValueError("inside")
    except ValueError as x:
        print(x, lock.locked())


asyncio.run(main())
