# asyncio for a machine without a JavaScript event loop: tasks live inside run(). The surface is MicroPython's asyncio.
import time
from time import ticks_add, ticks_diff, ticks_ms


class CancelledError(BaseException):
    pass


class TimeoutError(Exception):
    pass


_queue = []  # (due, sequence, task), sorted; short, so that a list is quicker than a heap
_current = None
_sequence = 0


class Task:
    def __init__(self, coro):
        self.coro = coro
        self.result = None
        self.error = None
        self.state = 0  # 0 runs, 1 has ended
        self.waiters = []
        self.blocker = None  # list of waiters that this task stands in
        self.cancelling = False
        self.told = False  # somebody has seen the error

    def done(self):
        return self.state == 1

    def cancelled(self):
        return self.state == 1 and isinstance(self.error, CancelledError)

    def cancel(self):
        if self.state == 1 or self is _current:
            if self is _current:
                raise RuntimeError("can't cancel self")
            return False
        self.cancelling = True
        _wake(self)
        return True

    def __iter__(self):
        # await task
        self.told = True
        if self.state == 0:
            yield from _block(self.waiters)
        if self.error is not None:
            raise self.error
        return self.result

    __await__ = __iter__


def _push(task, due):
    global _sequence
    _sequence += 1
    at = len(_queue)
    while at and ticks_diff(_queue[at - 1][0], due) > 0:
        at -= 1
    _queue.insert(at, (due, _sequence, task))


def _wake(task):
    # Make a sleeping or blocked task run next.
    if task.blocker is not None:
        if task in task.blocker:
            task.blocker.remove(task)
        task.blocker = None
    else:
        for k in range(len(_queue)):
            if _queue[k][2] is task:
                del _queue[k]
                break
    _push(task, ticks_ms())


def _block(waiters):
    # Stand in a queue until somebody wakes this task.
    task = _current
    task.blocker = waiters
    waiters.append(task)
    yield _block


class _Sleep:
    # An awaitable that needs no generator: one turn of the loop, then the end.
    def __init__(self, ms):
        self.ms = ms
        self.slept = False

    def __iter__(self):
        return self

    __await__ = __iter__

    def __next__(self):
        if self.slept:
            raise StopIteration
        self.slept = True
        _push(_current, ticks_add(ticks_ms(), self.ms))
        return _block

    def send(self, value):
        return self.__next__()

    def throw(self, e):
        raise e

    def close(self):
        pass


def sleep_ms(ms):
    return _Sleep(ms if ms > 0 else 0)


def sleep(seconds):
    return sleep_ms(int(seconds * 1000))


def create_task(coro):
    if not hasattr(coro, "send"):
        raise TypeError("coroutine expected")
    task = Task(coro)
    _push(task, ticks_ms())
    return task


def current_task():
    if _current is None:
        raise RuntimeError("no running event loop")
    return _current


def _step(task):
    global _current
    _current = task
    try:
        if task.cancelling:
            task.cancelling = False
            task.coro.throw(CancelledError())
        else:
            task.coro.send(None)
        return
    except StopIteration as e:
        task.result = e.value
    except (CancelledError, Exception) as e:
        task.error = e
    finally:
        _current = None
    task.state = 1
    if task.waiters:
        task.told = True
    while task.waiters:
        _wake(task.waiters[0])
    if task.error is not None and not task.told and not isinstance(task.error, CancelledError):
        Loop.call_exception_handler({"message": "Task exception wasn't retrieved", "exception": task.error, "future": task})


def _turn(main):
    while main.state == 0:
        if not _queue:
            raise RuntimeError("every task waits for another")
        due, _, task = _queue[0]
        wait = ticks_diff(due, ticks_ms())
        if wait > 0:
            time.sleep_ms(wait)
            continue
        del _queue[0]
        _step(task)


def run(coro):
    """Run coro to its end and answer its value; tasks that are left over end with it."""
    if _current is not None:
        raise RuntimeError("run() within run()")
    main = create_task(coro)
    main.told = True
    try:
        _turn(main)
    finally:
        del _queue[:]
    if main.error is not None:
        raise main.error
    return main.result


class Loop:
    _handler = None
    _stop = None

    def create_task(coro):
        return create_task(coro)

    def run_until_complete(coro):
        return run(coro)

    def run_forever():
        async def forever():
            Loop._stop = Event()
            await Loop._stop.wait()

        run(forever())

    def stop():
        if Loop._stop is not None:
            Loop._stop.set()

    def close():
        pass

    def set_exception_handler(handler):
        Loop._handler = handler

    def get_exception_handler():
        return Loop._handler

    def default_exception_handler(loop, context):
        import sys

        print(context["message"], file=sys.stderr)
        print("future:", context["future"], "coro=", context["future"].coro, file=sys.stderr)
        sys.print_exception(context["exception"], sys.stderr)

    def call_exception_handler(context):
        (Loop._handler or Loop.default_exception_handler)(Loop, context)


def get_event_loop():
    return Loop


def new_event_loop():
    global _current
    del _queue[:]
    _current = None
    Loop._handler = None
    return Loop


async def wait_for(awaitable, timeout, sleep=sleep):
    if timeout is None:
        return await awaitable
    task = awaitable if isinstance(awaitable, Task) else create_task(awaitable)
    late = False

    async def watch():
        nonlocal late
        await sleep(timeout)
        late = True
        task.cancel()

    watcher = create_task(watch())
    try:
        return await task
    except CancelledError:
        if late:
            raise TimeoutError
        task.cancel()
        raise
    finally:
        if not watcher.done():
            watcher.cancel()


def wait_for_ms(awaitable, timeout):
    return wait_for(awaitable, timeout, sleep_ms)


async def gather(*awaitables, return_exceptions=False):
    tasks = [a if isinstance(a, Task) else create_task(a) for a in awaitables]
    results = []
    try:
        for task in tasks:
            try:
                results.append(await task)
            except Exception as e:
                if not return_exceptions:
                    raise
                results.append(e)
            except CancelledError as e:
                if not (return_exceptions and task.cancelled()):
                    raise
                results.append(e)
    except CancelledError:
        for task in tasks:
            task.cancel()
        raise
    finally:
        for task in tasks:
            task.told = True
    return results


class Event:
    def __init__(self):
        self.state = False
        self.waiters = []

    def is_set(self):
        return self.state

    def set(self):
        self.state = True
        while self.waiters:
            _wake(self.waiters[0])

    def clear(self):
        self.state = False

    async def wait(self):
        if not self.state:
            await _Blocked(self.waiters)
        return True


class ThreadSafeFlag:
    """A flag that an interrupt handler may set; one task waits for it."""

    def __init__(self):
        self.state = False

    def set(self):
        self.state = True

    def clear(self):
        self.state = False

    async def wait(self):
        while not self.state:
            await sleep_ms(1)
        self.state = False


class _Blocked:
    def __init__(self, waiters):
        self.waiters = waiters

    def __iter__(self):
        return _block(self.waiters)

    __await__ = __iter__


class Lock:
    def __init__(self):
        self.held = False
        self.waiters = []

    def locked(self):
        return self.held

    def release(self):
        if not self.held:
            raise RuntimeError("Lock not acquired")
        self.held = False
        if self.waiters:
            _wake(self.waiters[0])

    async def acquire(self):
        while self.held:
            await _Blocked(self.waiters)
        self.held = True
        return True

    async def __aenter__(self):
        return await self.acquire()

    async def __aexit__(self, *exc):
        self.release()


class Queue:
    def __init__(self, maxsize=0):
        self.maxsize = maxsize
        self.items = []
        self.getters = []
        self.putters = []

    def qsize(self):
        return len(self.items)

    def empty(self):
        return not self.items

    def full(self):
        return 0 < self.maxsize <= len(self.items)

    def put_nowait(self, item):
        if self.full():
            raise QueueFull
        self.items.append(item)
        if self.getters:
            _wake(self.getters[0])

    def get_nowait(self):
        if not self.items:
            raise QueueEmpty
        item = self.items.pop(0)
        if self.putters:
            _wake(self.putters[0])
        return item

    async def put(self, item):
        while self.full():
            await _Blocked(self.putters)
        self.put_nowait(item)

    async def get(self):
        while not self.items:
            await _Blocked(self.getters)
        return self.get_nowait()


class QueueEmpty(Exception):
    pass


class QueueFull(Exception):
    pass
