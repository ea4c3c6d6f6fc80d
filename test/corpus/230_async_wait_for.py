# wait_for: in time, too late, by an exception, cancelled itself.
import asyncio


async def job(seconds, result):
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        print("job is cancelled")
        raise
    return result


async def fails():
    await asyncio.sleep(0)
    raise ValueError("of the job")


async def main():
    print(await asyncio.wait_for(job(0, "in time"), 5))
    try:
        await asyncio.wait_for(job(60, "late"), 0.01)
    except asyncio.TimeoutError:
        print("too late")
    print(await asyncio.wait_for(job(0, "no limit"), None))
    try:
        await asyncio.wait_for(fails(), 5)
    except ValueError as e:
        print("raised", e)
    t = asyncio.create_task(job(0.01, "a task"))
    print(await asyncio.wait_for(t, 5), t.done())
    t = asyncio.create_task(job(60, "late"))
    try:
        await asyncio.wait_for(t, 0.01)
    except asyncio.TimeoutError:
        print("task too late", t.done())
    t = asyncio.create_task(asyncio.wait_for(job(60, "x"), 50))
    await asyncio.sleep(0.01)
    t.cancel()
    try:
        await t
    except asyncio.CancelledError:
        print("cancelled from outside")
    try:
        await asyncio.wait_for(asyncio.wait_for(job(60, "x"), 50), 0.01)
    except asyncio.TimeoutError:
        print("outer limit")
    try:
        await asyncio.wait_for(asyncio.wait_for(job(60, "x"), 0.01), 50)
    except asyncio.TimeoutError:
        print("inner limit")


asyncio.run(main())
