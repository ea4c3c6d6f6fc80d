//go:build unix

package micropython

import (
	"testing"
	"time"

	"github.com/pal-terminal/pal/hw"
)

func TestAsyncio(t *testing.T) {
	g := start(t)
	for _, tt := range []struct{ name, code, out string }{
		{"order", "import asyncio\nasync def w(n, d):\n  for k in range(3):\n    print(n, k, end=' ')\n    await asyncio.sleep_ms(d)\n  return n\nasync def main():\n  t = asyncio.create_task(w('a', 10))\n  r = await w('b', 15)\n  return r, await t\nprint(asyncio.run(main()))", "b 0 a 0 a 1 b 1 a 2 b 2 ('b', 'a')\n"},
		{"gather", "print(asyncio.run(asyncio.gather(w('a', 1), w('b', 1))))", "a 0 b 0 a 1 b 1 a 2 b 2 ['a', 'b']\n"},
		{"timeout", "async def main():\n  try: await asyncio.wait_for(asyncio.sleep(5), 0.01)\n  except asyncio.TimeoutError: return 'late'\nprint(asyncio.run(main()))", "late\n"},
		{"in time", "async def f(): return 3\nprint(asyncio.run(asyncio.wait_for_ms(f(), 1000)))", "3\n"},
		{"cancel", "async def main():\n  async def f():\n    try: await asyncio.sleep(9)\n    except asyncio.CancelledError: print('cancelled'); raise\n  t = asyncio.create_task(f())\n  await asyncio.sleep_ms(1)\n  t.cancel()\n  try: await t\n  except asyncio.CancelledError: pass\n  return t.done()\nprint(asyncio.run(main()))", "cancelled\nTrue\n"},
		{"exception", "async def f(): raise ValueError('x')\nasync def main():\n  try: await asyncio.create_task(f())\n  except ValueError as e: return str(e)\nprint(asyncio.run(main()))", "x\n"},
		{"gather exceptions", "async def main(): return await asyncio.gather(f(), asyncio.sleep_ms(1), return_exceptions=True)\nprint(asyncio.run(main()))", "[ValueError('x',), None]\n"},
		{"event and lock", "async def main():\n  e = asyncio.Event(); l = asyncio.Lock(); out = []\n  async def f(n):\n    await e.wait()\n    async with l:\n      out.append(n); await asyncio.sleep_ms(1); out.append(n)\n  ts = [asyncio.create_task(f(n)) for n in range(3)]\n  await asyncio.sleep_ms(1)\n  e.set()\n  await asyncio.gather(*ts)\n  return out\nprint(asyncio.run(main()))", "[0, 0, 1, 1, 2, 2]\n"},
		{"queue", "async def main():\n  q = asyncio.Queue(1); got = []\n  async def p():\n    for k in range(4): await q.put(k)\n  t = asyncio.create_task(p())\n  for k in range(4): got.append(await q.get())\n  await t\n  return got\nprint(asyncio.run(main()))", "[0, 1, 2, 3]\n"},
		{"old name", "import uasyncio\nprint(uasyncio.run(w('u', 0)))", "u 0 u 1 u 2 u\n"},
		{"loop", "loop = asyncio.get_event_loop()\nprint(loop.run_until_complete(w('l', 0)))", "l 0 l 1 l 2 l\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := g.exec(tt.code)
			if r.out != tt.out || r.Exception != nil || r.err != "" {
				t.Errorf("got %q, %+v, %q, want %q", r.out, r.Exception, r.err, tt.out)
			}
		})
	}
}

// What needs handlers, interrupts, streams or several jobs; the rest of asyncio is in test/corpus, where it is compared with
// the engine's own loop elsewhere.
func TestAsyncioAmongJobs(t *testing.T) {
	g := start(t)
	for _, tt := range []struct{ name, code, out string }{
		{"a flag from an interrupt handler ends the wait", `
import asyncio
flag = asyncio.ThreadSafeFlag()
button = Pin(4, Pin.IN)
button.irq(lambda p: flag.set(), Pin.IRQ_RISING)
async def main():
    t = time.ticks_ms()
    Pin(9, Pin.OUT).on()
    await flag.wait()
    print(time.ticks_diff(time.ticks_ms(), t) < 5000)
    try:
        await asyncio.wait_for_ms(flag.wait(), 5)  # waiting has cleared it
    except asyncio.TimeoutError:
        print("clear")
asyncio.run(main())`, "True\nclear\n"},
		{"what was left over goes on in the same program", `
async def late():
    await asyncio.sleep_ms(1)
    print("late")
async def first(): asyncio.create_task(late())
asyncio.run(first())
asyncio.run(asyncio.sleep_ms(5))`, "late\n"},
		{"a task is left over", "asyncio.create_task(late())\nloop = asyncio.get_event_loop()\nloop.set_exception_handler(print)", ""},
		{"which the next program does not have", "asyncio.run(asyncio.sleep_ms(5))\nprint(loop.get_exception_handler())", "None\n"},
		{"a set reset loop", "asyncio.create_task(late())\nloop.set_exception_handler(print)\nloop = asyncio.new_event_loop()\nprint(loop.get_exception_handler())\nasyncio.run(asyncio.sleep_ms(5))", "None\n"},
		{"nothing can go on any more", "async def main():\n  await asyncio.Event().wait()\n  print('woken')\nprint(asyncio.run(main()))", "None\n"},
		{"within itself", "async def main():\n  try: asyncio.run(late())\n  except RuntimeError as e: print(e)\nasyncio.run(main())", "asyncio.run() cannot be called from a running event loop\n"},
		// A word on the engine's stack that happens to look like the address of a task which has ended keeps that task, and those which
		// stood behind it in the queue: of a crowd of 100, 10 KB. All 10,000 would be 900 KB.
		{"memory of many tasks comes back", `
import gc
async def nothing(): pass
async def crowd():
    for k in range(100):
        for n in range(100): asyncio.create_task(nothing())
        await asyncio.sleep_ms(0)
gc.collect(); before = gc.mem_free()
asyncio.run(crowd())
gc.collect(); print(before - gc.mem_free() < 32768)`, "True\n"},
		{"loop that is stopped", `
async def stopper():
    await asyncio.sleep_ms(2)
    print("stop")
    asyncio.get_event_loop().stop()
loop = asyncio.get_event_loop()
loop.create_task(stopper())
loop.run_forever()
loop.close()
print("after")`, "stop\nafter\n"},
		{"old name", "import uasyncio\nasync def f(): return uasyncio.current_task() is not None\nprint(uasyncio.run(f()), uasyncio.Queue is asyncio.Queue)", "True True\n"},
		{"no network", `
async def main():
    for f in (asyncio.open_connection, asyncio.start_server):
        try: await f("h", 80)
        except OSError as e: print(e.errno)
asyncio.run(main())`, "13\n13\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			edgesOn(g, 4, 1)
			r := g.exec(tt.code)
			if r.out != tt.out || r.Exception != nil || r.err != "" {
				t.Errorf("got %q, %+v, %q, want %q", r.out, r.Exception, r.err, tt.out)
			}
		})
	}
}

// What a program's loop left over holds no memory once the program has ended, however it ended.
func TestTasksEndWithTheirJob(t *testing.T) {
	g := start(t)
	g.exec("import asyncio, gc\nasync def idle(): await asyncio.sleep(60)\nasync def flagged(): await asyncio.ThreadSafeFlag().wait()")
	const leave = "gc.collect(); before = gc.mem_free()\nfor k in range(1000): asyncio.create_task(idle())\n" +
		"asyncio.create_task(flagged())\nasyncio.run(asyncio.sleep_ms(2))\ngc.collect(); held = before - gc.mem_free()\n"
	for _, end := range []string{"", "1 / 0", "import sys; sys.exit()"} {
		g.exec(leave + end)
		r := g.exec("gc.collect(); print(held > 65536, before - gc.mem_free() < 32768)")
		if r.out != "True True\n" || r.Exception != nil {
			t.Errorf("after a program that ends with %q: got %q, %s", end, r.out, r.err)
		}
	}
}

// A loop that was dropped in the middle of things leaves nothing that the next program trips over, whatever was done to it.
func TestLoopAfterItsJob(t *testing.T) {
	g := start(t)
	for _, tt := range []struct{ code, next string }{
		{"import asyncio\nevent = asyncio.Event()\nasync def wait(): await event.wait()\nasyncio.create_task(wait())\nasyncio.run(asyncio.sleep_ms(1))", "event.set()"},
		{"import asyncio\nasyncio.core._task_queue = asyncio.core._io_queue = asyncio.cur_task = 7", ""},
		{"import sys\nsys.modules['asyncio'] = 5", "import sys; del sys.modules['asyncio']"},
		{"import sys\ndel sys.modules['asyncio']", ""},
	} {
		g.exec(tt.code)
		r := g.exec(tt.next + "\nimport asyncio\nasyncio.run(asyncio.sleep_ms(1))\nprint('next')")
		if r.out != "next\n" || r.Exception != nil {
			t.Errorf("after %q: got %q, %s", tt.code, r.out, r.err)
		}
	}
}

// loopback is a stream as UART is one: what is written into it can be read after a look or two, three bytes at most are taken
// at once.
const loopback = `
import asyncio, select
class Loopback:
    def __init__(self):
        self.data = b""
        self.looks = 0
    def ioctl(self, request, flags):
        self.looks += 1
        ready = 4 if self.looks % 2 else 0
        return (ready | 1 if self.data and self.looks > 2 else ready) & flags
    def read(self, n=-1):
        if not self.data: return None
        n = len(self.data) if n < 0 else n
        r, self.data = self.data[:n], self.data[n:]
        return r
    def readline(self):
        n = self.data.find(b"\n") + 1
        return self.read(n if n else -1)
    def readinto(self, buf):
        r = self.read(len(buf))
        if r is None: return None
        buf[:len(r)] = r
        return len(r)
    def write(self, buf):
        n = min(3, len(buf))
        self.data += bytes(buf[:n])
        return n
s = Loopback()
`

func TestStreams(t *testing.T) {
	g := start(t)
	g.answer = board(map[uint16]int64{})
	for _, tt := range []struct{ name, code, out string }{
		{"asyncio", loopback + `
async def main():
    reader, writer = asyncio.StreamReader(s), asyncio.StreamWriter(s, {})
    async def talk():
        writer.write(b"hello\nwo")
        writer.write("rld")
        await writer.drain()
    task = asyncio.create_task(talk())
    print(await reader.readline())
    print(await reader.readexactly(5))
    await task
    b = bytearray(4)
    writer.write("xé")
    await writer.drain()
    print(await reader.readinto(b), b)
    try: await asyncio.wait_for_ms(reader.read(1), 20)
    except asyncio.TimeoutError: print("silent")
    s.data = b"z"
    print(await reader.read(10))
asyncio.run(main())`, "b'hello\\n'\nb'world'\n3 bytearray(b'x\\xc3\\xa9\\x00')\nsilent\nb'z'\n"},
		{"poll", loopback + `
import sys
p = select.poll()
p.register(s, select.POLLIN)
p.register(sys.stdin, select.POLLIN)
t = time.ticks_ms()
print(p.poll(20), time.ticks_diff(time.ticks_ms(), t) >= 20)
s.data = b"x"
print([(o is s, e) for o, e in p.poll()])
print([(o is s, e) for o, e in p.ipoll(0, 1)], p.poll(0))
p.modify(s, select.POLLOUT)
print(p.poll(100)[0][1], p.poll(100)[0][1])
p.unregister(s)
print(p.poll(0))
try: p.modify(s, 1)
except OSError as e: print(e.errno)
try: p.register(5)
except OSError as e: print(e.errno)
r, w, x = select.select([s], [s], [], 1)
print(r == [s] or w == [s], x, select.select([sys.stdin], [], [], 0.01), select.select([], [sys.stdout], [])[1] == [sys.stdout])
import uselect
print(uselect.POLLIN)`, "[] True\n[(True, 1)]\n[(True, 1)] []\n4 4\n[]\n2\n22\nTrue [] ([], [], []) True\n1\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := g.exec(tt.code)
			if r.out != tt.out || r.Exception != nil || r.err != "" {
				t.Errorf("got %q, %+v, %q, want %q", r.out, r.Exception, r.err, tt.out)
			}
		})
	}
}

// An interrupt ends every wait at once, and what the program had going is gone.
func TestInterruptEndsLoop(t *testing.T) {
	g := start(t)
	for _, code := range []string{
		"async def main():\n  asyncio.create_task(ticker())\n  await asyncio.sleep(60)\nasyncio.run(main())",
		"asyncio.run(asyncio.ThreadSafeFlag().wait())",
		"asyncio.create_task(ticker())\nasyncio.get_event_loop().run_forever()",
		"import select, sys\np = select.poll()\np.register(sys.stdin, select.POLLIN)\np.poll()",
	} {
		g.exec("import asyncio\nasync def ticker():\n  while True:\n    await asyncio.sleep_ms(3)\n    print('.', end='')")
		g.begin(hw.Job{Kind: hw.JobExec, Session: "s", Code: code, MaxOutput: 4096})
		g.interruptAfter(30 * time.Millisecond)
		began := time.Now()
		r := g.finish()
		if r.Exception == nil || r.Exception.Class != "KeyboardInterrupt" || time.Since(began) > 10*time.Second {
			t.Errorf("%q: got %+v after %v", code, r.Exception, time.Since(began))
		}
		if r := g.exec("asyncio.run(asyncio.sleep_ms(10))\nprint('clean')"); r.out != "clean\n" || r.Exception != nil {
			t.Errorf("after %q: got %q, %+v", code, r.out, r.Exception)
		}
	}
}

// A loop that waits for streams and flags alone does no work meanwhile.
func TestLoopWaitBurnsNothing(t *testing.T) {
	g := start(t)
	g.exec("import asyncio")
	r := g.exec("async def main():\n  try: await asyncio.wait_for(asyncio.ThreadSafeFlag().wait(), 0.5)\n  except asyncio.TimeoutError: pass\nasyncio.run(main())")
	if r.Exception != nil || r.Fuel > 200_000 {
		t.Errorf("half a second of waiting: got %d units of fuel, %+v", r.Fuel, r.Exception)
	}
}
