# Jobs from a queue, done by two workers.
import asyncio
from machine import Pin

leds = [Pin("LED", Pin.OUT), Pin("LED_B", Pin.OUT)]


class Queue:
    def __init__(self):
        self.items = []
        self.event = asyncio.Event()

    def put(self, x):
        self.items.append(x)
        self.event.set()

    async def get(self):
        while not self.items:
            self.event.clear()
            await self.event.wait()
        return self.items.pop(0)


async def worker(n, queue, done):
    while True:
        job = await queue.get()
        leds[n].on()
        await asyncio.sleep_ms(job)
        leds[n].off()
        done.append(job)


async def main():
    queue, done = Queue(), []
    workers = [asyncio.create_task(worker(n, queue, done)) for n in range(2)]
    for job in (5, 3, 8, 2, 6):
        queue.put(job)
    while len(done) < 5:
        await asyncio.sleep_ms(5)
    for w in workers:
        w.cancel()
    return sorted(done)


print(asyncio.run(main()))
