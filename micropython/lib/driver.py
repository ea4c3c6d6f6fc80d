# Runs jobs for the host. This dictionary of names is private: no program can reach it, since nothing defined here is handed
# out but the two callables that the engine itself holds. Built-in names are bound once, so that a program which replaces
# them harms only itself.
import builtins, gc, io, json, micropython, sys

for name in ("BaseException", "KeyboardInterrupt", "SystemExit", "SyntaxError", "MemoryError", "TypeError", "ValueError",
             "AttributeError", "NameError", "OSError", "bool", "bytearray", "compile", "delattr", "dict", "dir", "eval", "exec", "float", "getattr", "hasattr", "id", "int",
             "isinstance", "len", "list", "range", "repr", "setattr", "sorted", "str", "tuple", "type", "__import__"):
    globals()[name] = getattr(builtins, name)

enter = js.enter
leave = js.leave
failed = js.failed
answer = js.answer
set_board = js.set_board
board_call = js.board_call
next_edge = js.next_edge
again = js.again
settled = js.settled
failing = js.failing
throwable = js.throwable
throw = js.throw
kick = js.kick
error_out = js.error_out
file_text = js.file_text
StringIO = io.StringIO
dumps = json.dumps
loads = json.loads
print_exception = sys.print_exception
collect = gc.collect
threshold = gc.threshold
mem_free = gc.mem_free
worn_out = js.worn_out
enable = gc.enable
heap_lock = micropython.heap_lock
heap_unlock = micropython.heap_unlock
modules = sys.modules
search = sys.path
search[:] = ["/lib/pal", "", "/flash", "/flash/lib", "/lib", ".frozen"]

import _pal

number_of = _pal.number_of
fail = _pal.fail
failure = _pal.failure
forget = _pal.forget
handlers = _pal.handlers
callbacks = _pal.callbacks
check = _pal.check
del _pal.failure, _pal.number_of, _pal.forget, _pal.handlers, _pal.callbacks

import _builtin, _bus, _micropython, _sys, machine, os, time
from _asyncio import TaskQueue

getcwd = os.getcwd
chdir = os.chdir
_builtin.install(builtins, os, time, collect)
tool, tools, running = _builtin.tooler(_bus.offer_tool, check)
builtins.tool = tool
modules["builtins"], put_back = _builtin.guarded(builtins)
modules["sys"] = modules["usys"] = _sys
for fd, file in enumerate((sys.stdin, sys.stdout, sys.stderr)):
    js.stream(id(file), fd)
    js.stream(id(file.buffer), fd)
modules["micropython"] = _micropython
del modules["_sys"], modules["_builtin"], modules["_micropython"]
for name in ("array", "binascii", "collections", "errno", "hashlib", "heapq", "io", "json", "machine", "os", "random",
             "re", "struct", "time", "zlib"):
    # Kept here, a built-in module is found before a file of that name.
    modules[name] = modules["u" + name] = __import__(name)
for name in ("cmath", "deflate", "framebuf", "gc", "math", "uctypes", "vfs"):
    modules[name] = __import__(name)

# The stock engine wants a collection every 16 KiB, which costs it nothing since it only sets a flag then. Here one is made, so
# it comes when the heap is full, as on a board.
threshold(-1)

library = modules.copy()
streams = {"stdin": sys.stdin, "stdout": sys.stdout, "stderr": sys.stderr}


def memory_refused(*args, **kwargs):
    _pal.denied("memory access by uctypes")


def close_memory():
    # uctypes reads and writes any address of the machine. What it offers for that refuses instead, in the engine's own table
    # of its names, so that importing it anew finds the same. A module is its type and its dictionary; a dictionary is its
    # type, a count in units of 8, a size and the table; an entry is a name and a value.
    import uctypes

    def word(address):
        return int.from_bytes(uctypes.bytes_at(address, 4), "little")

    names = word(id(uctypes) + 4)
    table = word(names + 12)
    memory = uctypes.bytearray_at(table, (word(names + 4) >> 3) * 8)
    refuse = id(memory_refused).to_bytes(4, "little")
    closed = [id(v) for v in (uctypes.addressof, uctypes.bytes_at, uctypes.bytearray_at, uctypes.struct)]
    for k in range(4, len(memory), 8):
        if int.from_bytes(memory[k:k + 4], "little") in closed:
            memory[k:k + 4] = refuse


close_memory()
del close_memory
session = {}
prefill = {"__name__": "__main__", "time": time, "event_push": _builtin.event_push}
for name in ("Pin", "ADC", "I2C", "SPI", "PWM", "UART", "Timer"):
    prefill[name] = getattr(machine, name)
board_names = {}
board_functions = {}
module_type = type(_pal)
no_tasks = {"cur_task": None, "_task_queue": None, "_io_queue": None}
function_types = (type(lambda: 0), type(_builtin.generator), type([].append))
LOW = (gc.mem_alloc() + gc.mem_free()) // 4
room = bytearray(8192)  # given up when memory runs out, so that the end can be told


def namespace(key):
    ns = session.get(key)
    if ns is None:
        ns = prefill.copy()
        ns.update(board_names)
        if key:
            session[key] = ns
    return ns


last = {}  # by session: the value that an expression statement printed last


def take_last(key):
    # The engine keeps that value among the built-in names, where every session would find it, and nothing would free it.
    try:
        v = _
        delattr(builtins, "_")
        if key in session:
            last[key] = v
    except (NameError, MemoryError):  # there is none; or no room for it, and it is gone
        pass


def run_exec(key, code, flags):
    ns = namespace(key)
    if key in last:
        setattr(builtins, "_", last[key])
    if flags & 2:
        head, tail = split(code)
        exec(head, ns)
        v = None
        if tail:
            exec(tail, ns)
            v = ns.pop(VALUE, None)
        respond(v, False)
    else:
        exec(prepared(key, code, flags & 1), ns)


recent = {}  # code of small programs, by session, kind and text


def prepared(key, code, single):
    # A small program that comes again, as when an agent polls, is not compiled again. Its code binds to the names it ran
    # with, so it serves its own session only. Sixteen of them take some 30 KiB of the heap at most.
    k = (key, single, code)
    c = recent.get(k)
    if c is None:
        c = compile(code + "\n", "<stdin>", "single") if single else compile(code, "<stdin>", "exec")
        if key and len(code) <= 256:
            if len(recent) >= 16:
                recent.clear()
            recent[k] = c
    return c


def foreign(name, v):
    # Whether v came from a module that board.py imported.
    for key in modules:
        if key != "board" and getattr(modules[key], name, None) is v:
            return True
    return False


def load(source):
    # Import board.py, and nothing that a program put elsewhere under that name.
    set_board(source)
    saved = search[:]
    modules.pop("board", None)
    folder = getcwd()
    search[:] = ["/lib/pal", "", "/lib", ".frozen"]
    chdir("/")
    try:
        board = library["board"] = __import__("board")
        return board
    finally:
        search[:] = saved
        chdir(folder)


def give_tool(board):
    # For "from board import tool".
    if not hasattr(board, "tool"):
        board.tool = tool


def run_board(code):
    board_names.clear()
    board_functions.clear()
    board = load(code)
    for name in dir(board):
        if name[0] == "_":
            continue
        v = getattr(board, name)
        board_names[name] = v
        if isinstance(v, function_types) and not foreign(name, v):
            board_functions[name] = v
    give_tool(board)
    respond(sorted(board_functions.keys()), True)


def run_proxy(code, args):
    # Each function lives in a dictionary that holds nothing but the way to the guard.
    board_names.clear()
    board = load("")
    set_board(code)
    board.__source__ = code
    call = _builtin.board_caller(board_call, check, jsonable, dumps, loads)
    for name in loads(args):
        space = {"_call": call}
        exec(compile("def %s(*args, **kwargs):\n return _call(%r, args, kwargs)" % (name, name), "<pal>", "exec"), space)
        board_names[name] = space[name]
        setattr(board, name, space[name])
    board_names["board"] = board
    give_tool(board)


def run_func(key, func, args):
    f = tools.get(key, {}).get(func) if key else board_functions.get(func)
    if f is None:
        raise AttributeError(("the session has no tool " if key else "board.py has no function ") + func)
    a = loads(args)
    respond(f(*a[0], **a[1]), True)


def protected(fn, arg):
    try:
        fn(arg)
    except KeyboardInterrupt:
        raise
    except BaseException as x:
        s = StringIO()
        print_exception(x, s)
        error_out(s.getvalue())


def handle(key):
    e = handlers.get(key)
    if e is not None:
        if e[3]:
            del handlers[key]
        protected(e[0], e[1])


late = [None]  # the exception of a posted write, until it is raised


def drain(_):
    # The engine's scheduler calls this between bytecodes: handlers of edges first, then what was scheduled up to now. What
    # these schedule waits for the next time, so that the program goes on. An interrupt that comes here is meant for it.
    try:
        h = next_edge()
        while h >= 0:
            handle(h)
            h = next_edge()
        n = len(callbacks)
        while n > 0:
            n -= 1
            fn, arg = callbacks.pop(0)
            protected(fn, arg)
        if callbacks:
            kick()
        if failing():
            late[0] = failure()
            throwable(id(late[0]))
    except KeyboardInterrupt:
        again(1)
    except BaseException:  # no memory to tell of a handler's exception: the program goes on
        again(0)
    throw()  # is raised at the next jump, and from here to the program there is none


def report(e):
    global room
    if isinstance(e, MemoryError):
        room = None
        recent.clear()
        collect()
    name = type(e).__name__
    message = None
    if isinstance(e, SystemExit):
        name = "SystemExit"
        message = e.args[0] if e.args else None
        if message is None or message == 0:
            return
    s = StringIO()
    print_exception(e, s)
    try:
        message = str(e if message is None else message)
    except KeyboardInterrupt:
        raise
    except BaseException:
        message = ""
    trace = s.getvalue()
    if isinstance(e, OSError) and e.args in ((13,), (28,)):  # what files raise: a bare number, of which the guard knows more
        text = file_text(e.args[0])
        if text:
            message += ": " + text
            trace = trace.rstrip() + ": " + text + "\n"
    failed(name, message, trace, number_of(e))


def unlock():
    # A program may have left the heap locked. The depth is only told by an unlock, hence the lock before it.
    heap_lock()
    depth = heap_unlock()
    while depth > 0:
        depth = heap_unlock()


# An interrupt may come at every instruction, and is raised at the next jump. The end of a try is a jump, and so is the
# comparison of an exception with a class. So each way out of a job passes end(), after which no interrupt comes, before it
# leaves the last try.
def end():
    leave()
    for k in (0, 0, 0, 0):
        pass


def absorb():
    # The host takes a driver that cannot even get here for a machine without memory.
    try:
        end()
        return
    except:
        return absorb()


def told():
    # What was posted must have been done before a job counts as done.
    if settled() is None:
        fail()


def guest(kind, key, code, func, args, flags, pin):
    running[0] = key if kind == 1 or key else None
    try:
        if kind == 1:
            run_exec(key, code, flags)
        elif kind == 2:
            run_board(code)
        elif kind == 3:
            run_proxy(code, args)
        elif kind == 4:
            run_func(key, func, args)
        elif kind == 5:
            handle(pin)
        drain(0)
    except SystemExit:
        told()
        raise
    unlock()
    told()
    end()


def admit(error):
    # Tell of an exception that could not be told.
    name = "KeyboardInterrupt" if error is None else type(error).__name__
    try:
        failed(name, "", "Traceback (most recent call last):\n" + name + ": \n", 0)
    except BaseException:
        failed("MemoryError", "", "", 0)


def forget_sessions(key):
    global room
    recent.clear()
    if key:
        for names in (session, last, tools):
            names.pop(key, None)
        return
    for names in (session, last, tools):
        names.clear()
    room = None
    collect()


def drop_tasks():
    # What a program's loop left over goes on in no other, and would hold memory until one begins. Nothing of the module is called
    # here: a program may have put anything there.
    loop = modules.get("asyncio")
    if type(loop) is module_type:
        names = loop.__dict__
        names.update(no_tasks)
        try:
            names["_task_queue"] = TaskQueue()
        except MemoryError:  # the next loop makes its own
            pass


def mend():
    # What every program finds, whatever the one before did to it. The host itself opens streams that were closed.
    modules.update(library)
    _sys.__dict__.update(streams)
    put_back()


def run(kind, key, code, func, args, flags, pin):
    global room
    if kind == 0:
        return forget_sessions(key)
    error = None
    told = False
    try:
        try:
            enter()
            guest(kind, key, code, func, args, flags, pin)
        except BaseException as e:
            error = e
            unlock()
            report(e)
            told = True
            end()
    except:
        # An interrupt in the handler above, or an exception whose own methods fail.
        absorb()
        if not told:
            admit(error)
    unlock()
    enable()
    threshold(-1)
    callbacks.clear()
    take_last(key)
    error = late[0] = None
    forget()
    drop_tasks()
    if room is None:
        make_room(key)
    try:
        mend()
    except MemoryError:  # after clear() of modules: the next job's end tries again
        pass


def make_room(key):
    # Memory ran out. What the job made and no name holds is garbage by now; when names hold it, the next job would be as
    # short of memory as this one, so that they have to go: this session's first, then everybody's.
    global room
    collect()
    if mem_free() < LOW and key in session:
        for names in (session, last, tools):
            names.pop(key, None)
        error_out("PAL: the heap is full: the names of this session are forgotten\n")
        collect()
    if mem_free() < LOW:
        for names in (session, last, tools, handlers):
            names.clear()
        error_out("PAL: the heap is full: the names of all sessions are forgotten\n")
        collect()
    if mem_free() < LOW:
        worn_out()
        return
    try:
        room = bytearray(8192)
    except MemoryError:  # enough, but in pieces
        pass


js.register(run, id(drain), id(micropython.schedule))
js.seal()
