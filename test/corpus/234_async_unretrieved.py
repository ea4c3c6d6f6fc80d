# micropython-only
# An exception that nobody asks for goes to the loop's handler, and to nobody when it is asked for in time.
import asyncio


async def fails(x):
    raise ValueError(x)


async def fails_later(x):
    await asyncio.sleep_ms(2)
    raise ValueError(x)


told = []


async def heard(n):
    for k in range(1000):
        if len(told) == n:
            break
        await asyncio.sleep_ms(1)


def handler(loop, context):
    print("handler:", context["message"], repr(context["exception"]), context["future"].done())
    told.append(context)


async def main():
    loop = asyncio.get_event_loop()
    print(loop.get_exception_handler())
    loop.set_exception_handler(handler)
    print(loop.get_exception_handler() is handler)
    asyncio.create_task(fails("nobody asks"))
    await heard(1)
    t = asyncio.create_task(fails("asked"))
    try:
        await t
    except ValueError as e:
        print("asked for", e)
    t = asyncio.create_task(fails_later("asked later"))
    await asyncio.sleep_ms(0)
    try:
        await t
    except ValueError as e:
        print("asked for", e)
    t = asyncio.create_task(fails("asked too late"))
    await heard(2)
    try:
        await t
    except ValueError as e:
        print("asked for", e)
    t = asyncio.create_task(asyncio.wait_for_ms(fails_later("through wait_for"), 60000))
    try:
        await t
    except ValueError as e:
        print("asked for", e)
    t = asyncio.create_task(fails_later("of a cancelled task"))
    await asyncio.sleep_ms(0)
    t.cancel()
    await asyncio.sleep_ms(5)
    print("a cancelled task is no error", t.done())
    loop.call_exception_handler({"message": "own", "exception": KeyError(1), "future": t})
    loop.set_exception_handler(None)
    print(loop.get_exception_handler())


asyncio.run(main())
