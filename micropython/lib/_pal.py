# The library's way to the host. A program that takes it apart hurts only itself: every call is checked again by the guard.
import js

pin_open = js.pin_open
pin_mode = js.pin_mode
pin_read = js.pin_read
pin_write = js.pin_write
pin_toggle = js.pin_toggle
adc_open = js.adc_open
adc_read = js.adc_read
adc_uv = js.adc_uv
refuse = js.refuse
ticks_us = js.ticks_us
deadline = js.deadline
wait = js.wait
time_ns = js.time_ns
set_clock = js.set_clock
event = js.event
network = js.network
random_hex = js.random_hex
file_sync = js.file_sync
irq_mask = js.irq_mask
edge_rose = js.edge_rose
edge_lost = js.edge_lost
board_name = js.board_name()
pal_version = js.pal_version()


def _make(js, OSError, RuntimeError, TypeError, callable, float, len):
    # State that no program can reach: closures, not names of this module.
    errno = js.errno
    text = js.text
    refusal = js.refusal
    pin_irq = js.pin_irq
    timer = js.timer
    uart_irq = js.uart_irq
    kick = js.kick
    refused = []  # (exception, number) of the latest refusals
    callbacks = []  # (callable, argument) of micropython.schedule
    handlers = {}  # source << 16 | number: (callable, its argument, the irq object, whether it runs once)
    TIMER = 1 << 16
    UART = 2 << 16
    jobs = [0]  # how many have ended

    def failure():
        # The exception that the host's last None means.
        e = OSError(errno(), text())
        n = refusal()
        if n:
            if len(refused) >= 16:
                refused.pop(0)
            refused.append((e, n))
        return e

    def fail():
        raise failure()

    def number_of(e):
        # The guard's number of the refusal that e stands for, 0 when e is something else.
        for seen, n in refused:
            if seen is e:
                return n
        return 0

    def forget():
        refused.clear()
        jobs[0] += 1

    def job():
        # A number that is another one in the next job.
        return jobs[0]

    def put(key, entry, switch, number, *args):
        # The handler is in place before the first edge can come.
        old = handlers.get(key)
        handlers[key] = entry
        if switch(number, *args) is None:
            if old is None:
                handlers.pop(key, None)
            else:
                handlers[key] = old
            fail()

    def arm(h, fn, arg, irq, edges):
        put(h, (fn, arg, irq, False), pin_irq, h, edges)
        if not edges:
            handlers.pop(h, None)

    def armed(h):
        # The irq object that is in place for a pin, or None.
        e = handlers.get(h)
        return None if e is None else e[2]

    def arm_uart(h, fn, arg, irq, on):
        put(UART | h, (fn, arg, irq, False), uart_irq, h, on)
        if not on:
            handlers.pop(UART | h, None)

    def arm_timer(n, us, periodic, fn, arg):
        put(TIMER | n, (fn, arg, arg, not periodic), timer, n, float(us), 1 if periodic else 0)

    def armed_timer(n):
        return armed(TIMER | n)

    def disarm_timer(n):
        if handlers.pop(TIMER | n, None) is not None and timer(n, 0, 0) is None:
            fail()

    def free_timer():
        n = 256
        while TIMER | n in handlers:
            n += 1
        if n > 65535:
            raise OSError(12, "too many timers")
        return n

    def schedule(fn, arg):
        if not callable(fn):
            raise TypeError("callable expected")
        if len(callbacks) >= 8:
            raise RuntimeError("schedule queue full")
        callbacks.append((fn, arg))
        kick()

    return (fail, failure, number_of, forget, job, arm, armed, arm_uart, arm_timer, armed_timer, disarm_timer, free_timer, handlers,
            callbacks, schedule)


(fail, failure, number_of, forget, job, arm, armed, arm_uart, arm_timer, armed_timer, disarm_timer, free_timer, handlers, callbacks,
 schedule) = _make(js, OSError, RuntimeError, TypeError, callable, float, len)
del js, _make


def check(r):
    if r is None:
        fail()
    return r


def denied(what):
    # Ask the guard to refuse what no program may have: it numbers and records the try.
    check(refuse(what))
    raise OSError(13, what)
