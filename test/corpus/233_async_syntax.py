# What the language offers: async for, async with, awaitables of one's own, coroutines as values.
import asyncio


class Countdown:
    def __init__(self, n):
        self.n = n

    def __aiter__(self):
        return self

    async def __anext__(self):
        if self.n == 0:
            raise StopAsyncIteration
        self.n -= 1
        await asyncio.sleep(0)
        return self.n


class Resource:
    def __init__(self, swallow=False):
        self.swallow = swallow

    async def __aenter__(self):
        print("open")
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, kind, value, trace):
        await asyncio.sleep(0)
        print("close", kind.__name__ if kind else None)
        return self.swallow


async def double(x):
    await asyncio.sleep(0)
    return 2 * x


async def deep(n):
    return n if n == 0 else 1 + await deep(n - 1)


async def main():
    async for n in Countdown(3):
        print(n)
    else:
        print("else")
    async for n in Countdown(5):
        if n == 3:
            break
    print("left at", n)
    async with Resource() as r:
        print("use", isinstance(r, Resource))
    try:
        async with Resource():
            raise KeyError("k")
    except KeyError:
        print("raised")
    async with Resource(True):
        raise KeyError("k")
    async with Resource() as a, Resource() as b:
        print("two", a is b)
    print([await double(1), await double(2)], {"k": await double(3)}, await double(await double(1)))
    total = 0
    for x in range(3):
        total += await double(x)
    print(total, await deep(8))
    f = double
    print(await f(5), (await double(3)) + 1, -await double(2))
    coros = [double(x) for x in "ab"]
    for c in coros:
        print(await c)
    if await double(0) == 0:
        print("in a condition")
    try:
        await double(None)
    except TypeError:
        print("raised in a coroutine")
    try:
        return_value = await early()
    finally:
        print("finally")
    print(return_value)


async def early():
    for k in range(5):
        try:
            if k == 2:
                return "early"
        finally:
            await asyncio.sleep(0)
            print("after", k)


asyncio.run(main())
