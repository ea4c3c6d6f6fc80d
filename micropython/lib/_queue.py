# asyncio.Queue with CPython's meaning, which MicroPython's own asyncio does not have but programs expect.
from asyncio import Event


class QueueEmpty(Exception):
    pass


class QueueFull(Exception):
    pass


class Queue:
    def __init__(self, maxsize=0):
        self.maxsize = maxsize
        self._items = []
        self._changed = Event()
        self._open = 0  # items that task_done() was not called for
        self._done = Event()
        self._done.set()

    def _change(self):
        # Everybody who waits looks again.
        self._changed.set()
        self._changed.clear()

    def qsize(self):
        return len(self._items)

    def empty(self):
        return not self._items

    def full(self):
        return 0 < self.maxsize <= len(self._items)

    def put_nowait(self, item):
        if self.full():
            raise QueueFull
        self._items.append(item)
        self._open += 1
        self._done.clear()
        self._change()

    def get_nowait(self):
        if not self._items:
            raise QueueEmpty
        item = self._items.pop(0)
        self._change()
        return item

    async def put(self, item):
        while self.full():
            await self._changed.wait()
        self.put_nowait(item)

    async def get(self):
        while not self._items:
            await self._changed.wait()
        return self.get_nowait()

    def task_done(self):
        if self._open == 0:
            raise ValueError("task_done() called too many times")
        self._open -= 1
        if self._open == 0:
            self._done.set()

    async def join(self):
        await self._done.wait()
