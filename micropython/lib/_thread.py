# The machine has one thread. Locks work, since code written for several uses them; a second thread is an OSError that says what
# to use instead.
class LockType:
    def __init__(self):
        self._held = False

    def acquire(self, wait=1, timeout=-1):
        if self._held:
            if wait:
                raise RuntimeError("nobody else could release this lock")
            return False
        self._held = True
        return True

    def release(self):
        if not self._held:
            raise RuntimeError("release unlocked lock")
        self._held = False

    def locked(self):
        return self._held

    def __enter__(self):
        self.acquire()
        return self

    def __exit__(self, *exc):
        self.release()


def allocate_lock():
    return LockType()


def get_ident():
    return 1


def stack_size(size=0):
    return 0


def start_new_thread(function, args, kwargs=None):
    raise OSError(95, "the machine has one thread: use asyncio or machine.Timer")


def exit():
    raise SystemExit
