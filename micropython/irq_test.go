//go:build unix

package micropython

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/vm/frame"
)

// edgesOn sends n edges on the pin when the program writes 1 to pin 9.
func edgesOn(g *guard, pin uint16, n int) {
	levels := board(map[uint16]int64{})
	g.answer = func(c hw.Call) hw.Reply {
		if c.Op == hw.OpPinWrite && c.Pin == 9 && c.A == 1 {
			for k := range n {
				g.send(frame.Edge{Edge: hw.Edge{Pin: pin, Rose: k%2 == 0, AtUS: int64(k)}})
			}
		}
		return levels(c)
	}
}

const armed = `
seen = []
button = Pin(4, Pin.IN, Pin.PULL_UP)
i = button.irq(handler=lambda p: seen.append(p), trigger=Pin.IRQ_RISING | Pin.IRQ_FALLING)
go = Pin(9, Pin.OUT)
`

func TestInterruptHandlers(t *testing.T) {
	g := start(t)
	for _, tt := range []struct {
		name, code, out string
		edges           int
	}{
		{"in a loop", armed + "go.on()\nwhile len(seen) < 3: pass\nprint(len(seen), seen[0] is button)", "3 True\n", 3},
		{"in a sleep", armed + "go.on()\nt = time.ticks_ms()\nwhile len(seen) < 2: time.sleep(30)\nprint(len(seen), time.ticks_diff(time.ticks_ms(), t) < 5000)", "2 True\n", 2},
		{"at the end", armed + "go.on()", "", 2},
		{"next job", "print(len(seen))", "2\n", 0},
		{"masked", armed + "import machine\ns = machine.disable_irq()\ngo.on()\nfor k in range(10000): pass\nprint(len(seen))\nmachine.enable_irq(s)\nwhile len(seen) < 2: pass\nprint(len(seen))", "0\n2\n", 2},
		{"in order", "order = []\nb = Pin(4)\nb.irq(lambda p: order.append(i.flags()), 3)\ni = b.irq(lambda p: order.append(i.flags()), 3)\nPin(9).on()\nwhile len(order) < 6: pass\nprint(order)", "[1, 2, 1, 2, 1, 2]\n", 6},
		{"disarmed", armed + "button.irq(None)\ngo.on()\ntime.sleep_ms(5)\nprint(seen)", "[]\n", 2},
		{"asked", armed + "print(button.irq() is i, Pin(5).irq().trigger())\ngo.on()\nwhile len(seen) < 2: pass\nprint(len(seen))", "True 0\n2\n", 2},
		{"without a handler", armed + "j = button.irq(None)\nj()\nprint(j.trigger(1), j.trigger())\ngo.on()\ntime.sleep_ms(5)\nprint(seen)", "0 1\n[]\n", 2},
		{"trigger", armed + "print(i.trigger(), i.trigger(Pin.IRQ_RISING), i.trigger())", "3 3 1\n", 0},
		{"schedules", "import micropython\nn = []\nPin(4).irq(lambda p: micropython.schedule(n.append, 1))\nPin(9).on()\nwhile len(n) < 4: pass\nprint(len(n))", "4\n", 4},
		{"queue full", "full = 0\ndone = []\nPin(4).irq(lambda p: done.append(1))\ngo = Pin(9)\nfor k in range(50):\n  try:\n    for j in range(30): micropython.schedule(lambda x: None, 0)\n  except RuntimeError: full += 1\n  go.on()\nwhile len(done) < 50: pass\nprint(full >= 0)", "True\n", 1},
		{"schedules itself", "n = 0\ndef f(x):\n  global n\n  n += 1\n  micropython.schedule(f, x)\nmicropython.schedule(f, 0)\nfor k in range(1000): pass\nprint(n > 10)", "True\n", 0},
		{"sleeping handler", "n = []\ndef h(p):\n    time.sleep_ms(5)\n    n.append(1)\nPin(4).irq(h)\nPin(9).on()\ntime.sleep_ms(1)\nwhile len(n) < 2: pass\nprint(len(n))", "2\n", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			edgesOn(g, 4, tt.edges)
			r := g.exec(tt.code)
			if r.out != tt.out || r.Exception != nil || r.err != "" {
				t.Errorf("got %q, %+v, %q, want %q", r.out, r.Exception, r.err, tt.out)
			}
		})
	}
}

func TestHandlerException(t *testing.T) {
	g := start(t)
	edgesOn(g, 4, 2)
	r := g.exec("n = []\ndef h(p):\n    n.append(1)\n    raise ValueError('in handler')\nPin(4).irq(h)\nPin(9).on()\nwhile len(n) < 2: pass\nprint('on')")
	want := strings.Repeat("Traceback (most recent call last):\n  File \"<stdin>\", line 4, in h\nValueError: in handler\n", 2)
	if r.out != "on\n" || r.err != want || r.Exception != nil {
		t.Errorf("got %q, %q, %+v", r.out, r.err, r.Exception)
	}
}

// An interrupt while a handler runs is meant for the job, and comes when the handler is done: as on a board, the engine's
// scheduler holds exceptions back until then.
func TestInterruptInHandler(t *testing.T) {
	g := start(t)
	levels := board(map[uint16]int64{})
	g.answer = func(c hw.Call) hw.Reply {
		switch {
		case c.Op == hw.OpPinWrite && c.Pin == 9:
			g.send(frame.Edge{Edge: hw.Edge{Pin: 4}})
		case c.Op == hw.OpEvent:
			g.send(frame.Interrupt{Seq: g.seq})
		}
		return levels(c)
	}
	for _, loop := range []string{"for k in range(1000): pass", "time.sleep_ms(1)"} {
		r := g.exec("def h(p):\n    event_push('now')\n    " + loop + "\nPin(4).irq(h)\nPin(9).on()\nwhile True: pass")
		if r.Exception == nil || r.Exception.Class != "KeyboardInterrupt" {
			t.Errorf("%s: got %+v, %s", loop, r.Exception, r.err)
		}
	}
}

func TestHandlerJob(t *testing.T) {
	g := start(t)
	g.answer = board(map[uint16]int64{})
	g.exec(armed)
	r := g.run(hw.Job{Kind: hw.JobHandler, Edge: hw.Edge{Pin: 4, Rose: true}})
	if r.Exception != nil {
		t.Fatalf("got %+v", r.Exception)
	}
	if r := g.exec("print(len(seen))"); r.out != "1\n" {
		t.Errorf("got %q, want one handler run", r.out)
	}
	if r := g.run(hw.Job{Kind: hw.JobHandler, Edge: hw.Edge{Pin: 5}}); r.Exception != nil || r.err != "" {
		t.Errorf("edge of an unarmed pin: got %+v, %q", r.Exception, r.err)
	}
}

// More edges than fit are counted, and the count comes with the next one.
func TestEdgeOverrun(t *testing.T) {
	g := start(t)
	edgesOn(g, 4, limits.EdgeQueue+10)
	r := g.exec("import machine\n" + armed + "s = machine.disable_irq()\ngo.on()\nmachine.enable_irq(s)\nwhile len(seen) < " + strconv.Itoa(limits.EdgeQueue) + ": pass\nprint(len(seen))")
	if want := strconv.Itoa(limits.EdgeQueue) + "\n"; r.out != want || r.Exception != nil {
		t.Errorf("got %q, %+v, want %q", r.out, r.Exception, want)
	}
	edgesOn(g, 4, 1)
	r = g.exec("lost = []\ni = button.irq(lambda p: lost.append(i.lost()), 3)\ngo.on()\nwhile not lost: pass\nprint(lost)")
	if r.out != "[10]\n" || r.Exception != nil {
		t.Errorf("got %q, %+v, want 10 lost", r.out, r.Exception)
	}
}

func TestRefusedIRQ(t *testing.T) {
	g := start(t)
	levels := board(map[uint16]int64{})
	g.answer = func(c hw.Call) hw.Reply {
		if c.Op == hw.OpPinIRQ {
			return hw.Reply{Errno: 13, Refusal: 3, Text: "no edges here"}
		}
		return levels(c)
	}
	r := g.exec("Pin(4).irq(lambda p: None)")
	want := []hw.Call{{Op: hw.OpPinOpen, Text: "4"}, {Op: hw.OpPinIRQ, Pin: 4, A: 3}}
	if d := cmp.Diff(want, r.calls); d != "" || r.Refusal != 3 {
		t.Errorf("refusal %d, calls (-want +got):\n%s", r.Refusal, d)
	}
}
