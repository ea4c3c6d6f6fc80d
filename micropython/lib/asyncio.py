# asyncio as MicroPython documents it, on the host's real waits. Tasks, their queue, gather, wait_for, Event, Lock and
# ThreadSafeFlag are the engine's own, frozen beside a loop that only a JavaScript host could turn. The loop is here, and is
# what they find as asyncio.core; cur_task, _task_queue and _io_queue are names that they and the engine's Task read.
#
# A task's state: True runs, nobody waits; a queue (or, from gather, a function) runs, somebody waits; None ended, nobody
# asked; False ended, somebody asked. Its data: None; what it waits in, which has remove(task); what is to be thrown into it;
# when it has ended, how.
import select, sys, _pal
from time import ticks_ms as ticks, ticks_add, ticks_diff
from _asyncio import Task, TaskQueue

__path__ = ".frozen/asyncio"
__version__ = (3, 0, 0)
core = sys.modules["asyncio.core"] = sys.modules[__name__]


class CancelledError(BaseException):
    pass


class TimeoutError(Exception):
    pass


class _Sleep:
    # An awaitable that needs no generator, and may be a task of its own all the same.
    def __init__(self, ms):
        self.ms = ms

    def __iter__(self):
        return self

    __await__ = __iter__

    def __next__(self):
        if self.ms is None:
            raise StopIteration
        _task_queue.push(cur_task, ticks_add(ticks(), self.ms))
        self.ms = None

    def send(self, _):
        self.__next__()

    def throw(self, e, *rest):
        raise e

    def close(self):
        pass


def sleep_ms(ms):
    return _Sleep(max(0, ms))


def sleep(seconds):
    return _Sleep(max(0, int(seconds * 1000)))


class _IOQueue:
    # The streams that tasks wait for. Whatever an interrupt handler does ends the loop's wait; other streams are looked at
    # every few milliseconds.
    def __init__(self):
        self.map = {}  # id of a stream: the stream, the task that reads, the task that writes
        self.pause = 1

    def _enqueue(self, stream, way):
        entry = self.map.get(id(stream))
        if entry is None:
            select.check(stream)
            entry = self.map[id(stream)] = [stream, None, None]
        if entry[way] is not None:
            raise RuntimeError("two tasks wait for one stream")
        entry[way] = cur_task
        cur_task.data = self
        self.pause = 1

    def queue_read(self, stream):
        self._enqueue(stream, 1)

    def queue_write(self, stream):
        self._enqueue(stream, 2)

    def _give(self, key, way):
        entry = self.map[key]
        task = entry[way]
        entry[way] = None
        if entry[1] is entry[2]:  # neither
            del self.map[key]
        return task

    def remove(self, task):
        for key, entry in list(self.map.items()):
            for way in (1, 2):
                if entry[way] is task:
                    self._give(key, way)

    def ready(self):
        # Wake the tasks whose streams are ready; answers for how long at most to wait before looking again, 0 when one was.
        ms = 60000
        for key, entry in list(self.map.items()):
            want = (entry[1] is not None) * 1 | (entry[2] is not None) * 4
            got = select.state(entry[0], want)
            if got & ~4 and entry[1]:
                _task_queue.push(self._give(key, 1))
                ms = 0
            if got & ~1 and entry[2]:
                _task_queue.push(self._give(key, 2))
                ms = 0
            if ms and not isinstance(entry[0], ThreadSafeFlag):
                ms = self.pause
        if ms == self.pause < 8:
            self.pause *= 2
        return ms


def create_task(coro):
    if not hasattr(coro, "send"):
        raise TypeError("coroutine expected")
    _fresh()
    task = Task(coro, globals())
    _task_queue.push(task)
    return task


def _promote_to_task(awaitable):
    return awaitable if isinstance(awaitable, Task) else create_task(awaitable)


def current_task():
    if cur_task is None:
        raise RuntimeError("no running event loop")
    return cur_task


def _due():
    # Wait for the next task that can go on; None when none ever can.
    while True:
        ms = _io_queue.ready() if _io_queue.map else 60000
        task = _task_queue.peek()
        if task:
            ms = min(ms, ticks_diff(task.ph_key, ticks()))
            if ms <= 0:
                return _task_queue.pop()
        elif not _io_queue.map:
            return None
        if ms > 0:
            _pal.wait(_pal.deadline(ms * 1000.0))


def _ended(task, how):
    waiting = task.state
    if waiting is True:
        task.state = None
        if not isinstance(how, (CancelledError, StopIteration)):
            _task_queue.push(task)  # somebody may still ask before its turn comes
    else:
        task.state = False
        if callable(waiting):
            waiting(task, how)
        else:
            while waiting.peek():
                _task_queue.push(waiting.pop())
    task.data = how  # last: push() clears it


def run_until_complete(main=None):
    global cur_task
    if cur_task is not None:
        raise RuntimeError("asyncio.run() cannot be called from a running event loop")
    _fresh()
    if main is not None:
        main = _promote_to_task(main)
    clean = False
    try:
        while True:
            task = _due()
            if task is None:
                clean = True
                return
            if not task.state:  # it has ended, and nobody has asked how
                if task.state is None:
                    Loop.call_exception_handler({"message": "Task exception wasn't retrieved", "exception": task.data, "future": task})
                continue
            cur_task = task
            try:
                throw = task.data
                if throw:
                    task.data = None
                    task.coro.throw(throw)
                else:
                    task.coro.send(None)
            except (CancelledError, Exception) as how:
                cur_task = None
                if task is main:
                    clean = True
                    if isinstance(how, StopIteration):
                        return how.value
                    raise
                _ended(task, how)
    finally:
        cur_task = None
        if not clean:  # an interrupt, sys.exit(), no memory: nothing of this goes on
            _reset()


def run(coro):
    """Run coro to its end and answer its value. Tasks that are left over go on with the next run() of the same program."""
    return run_until_complete(create_task(coro))


class Loop:
    _handler = None
    _stopper = None

    create_task = create_task
    run_until_complete = run_until_complete

    def run_forever():
        async def forever():
            Loop._stopper = Event()
            await Loop._stopper.wait()

        run(forever())
        Loop._stopper = None

    def stop():
        if Loop._stopper:
            Loop._stopper.set()

    def close():
        pass

    def set_exception_handler(handler):
        Loop._handler = handler

    def get_exception_handler():
        return Loop._handler

    def default_exception_handler(loop, context):
        print(context["message"], file=sys.stderr)
        print("future:", context["future"], "coro=", context["future"].coro, file=sys.stderr)
        sys.print_exception(context["exception"], sys.stderr)

    def call_exception_handler(context):
        (Loop._handler or Loop.default_exception_handler)(Loop, context)


def get_event_loop(*_):
    return Loop


get_running_loop = get_event_loop


def new_event_loop():
    _reset()
    return Loop


def _reset():
    global cur_task, _task_queue, _io_queue, _job
    cur_task = None
    _task_queue = TaskQueue()
    _io_queue = _IOQueue()
    _job = _pal.job()
    Loop._handler = Loop._stopper = None


def _fresh():
    # What another program left does not go on in this one.
    if _job != _pal.job():
        _reset()


_reset()

from asyncio.event import Event, ThreadSafeFlag
from asyncio.funcs import gather, wait_for, wait_for_ms
from asyncio.lock import Lock


def __getattr__(name):
    if name in ("Stream", "StreamReader", "StreamWriter", "open_connection", "start_server"):
        import _streams as module
    elif name in ("Queue", "QueueEmpty", "QueueFull"):
        import _queue as module
    else:
        raise AttributeError(name)
    return getattr(module, name)
