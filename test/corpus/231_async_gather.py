# gather: results in order, exceptions, cancelling all.
import asyncio


async def value(x, pause=0):
    await asyncio.sleep(pause)
    print("value", x)
    return x


async def quiet(x):
    await asyncio.sleep(0)
    return x


async def fails(x):
    await asyncio.sleep(0)
    raise ValueError(x)


async def long(name):
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        print(name, "cancelled")
        raise


async def main():
    print(await asyncio.gather(value(1, 0.4), value(2, 0.0), value(3, 0.02)))
    t = asyncio.create_task(value("task"))
    print(await asyncio.gather(t, value("coroutine")))
    r = await asyncio.gather(value(1), fails("a"), fails("b"), return_exceptions=True)
    print([x if isinstance(x, int) else (type(x).__name__, x.args) for x in r])
    try:
        await asyncio.gather(value(1), fails("c"), value(2))
    except ValueError as e:
        print("raised", e)
    await asyncio.sleep(0.01)
    done = asyncio.create_task(value("before"))
    await done
    print(await asyncio.gather(done, value("after")))

    async def group():
        await asyncio.gather(long("first"), long("second"))

    t = asyncio.create_task(group())
    await asyncio.sleep(0.01)
    t.cancel()
    try:
        await t
    except asyncio.CancelledError:
        print("group cancelled")
    nested = await asyncio.gather(asyncio.gather(quiet("p"), quiet("q")), quiet("r"))
    print([list(x) if not isinstance(x, str) else x for x in nested])


asyncio.run(main())
