# In which order tasks run: a task that is made waits for its turn, each await that waits gives the turn away.
import asyncio


async def worker(name, turns, pause):
    for k in range(turns):
        print(name, k)
        await asyncio.sleep(pause)
    return name


async def nothing():
    print("nothing")


async def main():
    print("main starts")
    t = asyncio.create_task(worker("a", 3, 0))
    print("made", t.done())
    await nothing()
    print("awaiting a coroutine gives no turn away")
    r = await worker("b", 2, 0)
    print("b ended with", r)
    print("a ended with", await t, t.done())
    t1 = asyncio.create_task(worker("slow", 2, 0.4))
    t2 = asyncio.create_task(worker("quick", 2, 0.02))
    print(await t2, await t1)
    print(await asyncio.gather(worker("x", 1, 0), worker("y", 2, 0), worker("z", 1, 0)))
    print(await asyncio.gather())
    print(asyncio.current_task() is asyncio.current_task(), asyncio.current_task() is t)
    await asyncio.sleep(0)
    print(await t, "may be asked again")


asyncio.run(main())
