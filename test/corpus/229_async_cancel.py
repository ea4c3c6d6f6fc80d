# Cancelling: the task is told where it waits, may clean up, and its waiter hears of it.
import asyncio


async def patient(name):
    try:
        print(name, "starts")
        await asyncio.sleep(60)
        print("never")
    except asyncio.CancelledError:
        print(name, "is told")
        raise
    finally:
        print(name, "cleans up")


async def stubborn():
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        print("goes on")
    await asyncio.sleep(0)
    return "result"


async def outer():
    try:
        await patient("inner")
    finally:
        print("outer too")


async def quick():
    return 5


async def main():
    t = asyncio.create_task(patient("a"))
    await asyncio.sleep(0)
    print(t.cancel())
    try:
        await t
    except asyncio.CancelledError:
        print("waiter hears it", t.done())

    t = asyncio.create_task(patient("unstarted"))
    t.cancel()
    try:
        await t
    except asyncio.CancelledError:
        print("never started", t.done())

    t = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    t.cancel()
    print(await t)

    t = asyncio.create_task(outer())
    await asyncio.sleep(0)
    t.cancel()
    try:
        await t
    except asyncio.CancelledError:
        print("through two")

    t = asyncio.create_task(quick())
    await t
    print("ended before:", t.cancel(), await t)

    inner = asyncio.create_task(patient("awaited"))

    async def waits():
        await inner

    t = asyncio.create_task(waits())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    t.cancel()
    for x in (t, inner):
        try:
            await x
        except asyncio.CancelledError:
            print("both", x.done())

    print(issubclass(asyncio.CancelledError, Exception), issubclass(asyncio.CancelledError, BaseException))


asyncio.run(main())
