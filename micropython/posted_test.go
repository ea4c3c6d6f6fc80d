//go:build unix

package micropython

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/vm/frame"
)

// postable is a guard that lets every pin be posted to and refuses level 1 when refuse is set.
func postable(refuse bool) func(hw.Call) hw.Reply {
	return func(c hw.Call) hw.Reply {
		switch c.Op { //nolint:exhaustive // the others are answered as usual
		case hw.OpFile:
			return hw.Reply{Errno: 2, Text: "no such file"}
		case hw.OpPinOpen:
			return hw.Reply{Value: 3, Extra: hw.PostAllowed}
		case hw.OpPinMode, hw.OpPinWrite, hw.OpPinToggle:
			if refuse && c.Op != hw.OpPinMode && c.A == 1 {
				return hw.Reply{Errno: 13, Refusal: 77, Text: "not yours"}
			}
			return hw.Reply{Extra: hw.PostAllowed}
		}
		return hw.Reply{}
	}
}

// ops tells calls as words: W for a posted write, w for one that is waited for, and so on.
func ops(calls []hw.Call) string {
	var b strings.Builder
	for _, c := range calls {
		word := map[hw.Op]string{hw.OpPinOpen: "o", hw.OpPinMode: "m", hw.OpPinWrite: "w", hw.OpPinToggle: "t", hw.OpPinRead: "r", hw.OpFlush: "f", hw.OpEvent: "e"}[c.Op]
		if c.Posted {
			word = strings.ToUpper(word)
		}
		b.WriteString(word)
	}
	return b.String()
}

const pin5 = "from machine import Pin\nimport time, sys\np = Pin(5, Pin.OUT)\n"

// Writes are posted where the guard allows it, and something that is waited for stands behind them before anything that a
// program or a person could take for their being done.
func TestPostedOrder(t *testing.T) {
	for _, tt := range []struct{ name, code, want string }{
		{"end", "p.on(); p.off(); p.toggle()", "omWWTf"},
		{"read", "p.on(); p.value(); p.off(); p.value()", "omWrWr"},
		{"event", "p.on(); event_push('a')", "omWe"},
		{"mode", "p.on(); p.init(Pin.OUT)", "omWm"},
		{"sleep", "p.on(); time.sleep_us(1); p.off()", "omWfWf"},
		{"time", "p.on(); time.ticks_us(); p.off(); time.time(); p.on(); time.ticks_ms()", "omWfWfWf"},
		{"print", "p.on(); print(1); p.off(); sys.stderr.write('x')", "omWfWf"},
		{"nothing", "p.value()", "omr"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := start(t)
			g.answer = postable(false)
			r := g.exec(pin5 + tt.code)
			if r.Exception != nil {
				t.Fatalf("got %+v", r.Exception)
			}
			if got := ops(r.calls); got != tt.want {
				t.Errorf("calls: got %s, want %s", got, tt.want)
			}
		})
	}
}

// However many are posted, the guard is never more than so many behind.
func TestPostedIsBounded(t *testing.T) {
	g := start(t)
	g.answer = postable(false)
	const n = 5*limits.PostedCalls + 1
	got := ops(g.exec(fmt.Sprintf("%sfor _ in range(%d): p.on()", pin5, n)).calls)
	if strings.Count(got, "W") != n || !strings.HasSuffix(got, "f") {
		t.Errorf("calls: got %d posted writes of %d, and %q at the end, want all and a flush", strings.Count(got, "W"), n, got[len(got)-1:])
	}
	for run := range strings.SplitSeq(got, "f") {
		if k := strings.Count(run, "W"); k > limits.PostedCalls {
			t.Errorf("%d writes without a flush, want at most %d", k, limits.PostedCalls)
		}
	}
}

// Leave to post ends with the answer that takes it back and with the job; an answer to a write gives it again.
func TestPostedLeaveEnds(t *testing.T) {
	g := start(t)
	g.answer = postable(false)
	if r := g.exec(pin5 + "p.on()"); ops(r.calls) != "omWf" {
		t.Errorf("first job: got %s, want omWf", ops(r.calls))
	}
	if r := g.exec("p.on(); p.off()"); ops(r.calls) != "wWf" {
		t.Errorf("second job: got %s, want wWf", ops(r.calls))
	}
	g.answer = func(c hw.Call) hw.Reply {
		r := postable(false)(c)
		if c.Op == hw.OpPinMode {
			r.Extra = 0
		}
		return r
	}
	if r := g.exec("p.on(); p.off(); p.init(Pin.OUT); p.on()"); ops(r.calls) != "wWmw" {
		t.Errorf("taken back: got %s, want wWmw", ops(r.calls))
	}
}

// A posted write that was refused becomes an OSError at whatever comes next, and never a success.
func TestPostedRefusal(t *testing.T) {
	const catch = "\nexcept OSError as e: print('told', e.errno)"
	for _, tt := range []struct{ name, code, class, out string }{
		{"end", "p.on()", "OSError", ""},
		{"exit", "p.on(); sys.exit()", "OSError", ""},
		{"exit-code", "p.on(); sys.exit(3)", "OSError", ""},
		{"another-exception", "p.on(); raise ValueError('no')", "ValueError", ""},
		{"caught", "try: p.on()" + catch, "OSError", ""}, // nothing in there could raise it yet
		{"read", "try:\n p.on(); p.value()" + catch, "", "told 13\n"},
		{"write-that-waits", "try:\n p.on(); Pin(6, Pin.OUT)" + catch, "", "told 13\n"},
		{"event", "try:\n p.on(); event_push('a')" + catch, "", "told 13\n"},
		{"sleep", "try:\n p.on(); time.sleep(100)" + catch, "", "told 13\n"},
		{"tick", "try:\n p.on()\n while True: pass" + catch, "", "told 13\n"},
		{"time", "try:\n p.on()\n t = time.ticks_ms()\n while time.ticks_ms() - t < 100000: pass" + catch, "", "told 13\n"},
		{"print", "try:\n p.on(); print('on')\n for _ in range(3): pass\n print('never')" + catch, "", "on\ntold 13\n"},
		{"many", "try:\n while True: p.on()" + catch, "", "told 13\n"},
		{"twice", "for k in 1, 2:\n try:\n  p.on(); p.value()\n except OSError as e: print(k)", "", "1\n2\n"},
		{"masked", "import machine\nmachine.disable_irq()\ntry:\n p.on()\n while True: pass" + catch, "", "told 13\n"},
		{"function", "def f():\n p.on()\n while True: pass\ntry: f()" + catch, "", "told 13\n"},
		{"generator", "def f():\n p.on()\n while True: yield 1\ntry:\n for _ in f(): pass" + catch, "", "told 13\n"},
		{"scheduled", "import micropython\nmicropython.schedule(lambda _: p.on(), 0)\ntry:\n while True: pass" + catch, "", "told 13\n"},
		{"sleeping-handler", "import micropython\nmicropython.schedule(lambda _: (p.on(), time.sleep_ms(5)), 0)\ntry:\n while True: pass" + catch, "", "told 13\n"},
		{"file", "import os\ntry:\n p.on()\n try: os.stat('/flash/a')\n except OSError as e: n = e.errno\n while True: pass" + catch + "\nprint(n)", "", "told 13\n2\n"},
		{"healed", "try:\n p.on(); p.value()\nexcept OSError: p.off()", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := start(t)
			g.answer = postable(true)
			r := g.exec(pin5 + tt.code)
			class := ""
			if r.Exception != nil {
				class = r.Exception.Class
			}
			if class != tt.class || r.out != tt.out {
				t.Errorf("got %q and %+v, want %q and %q", r.out, r.Exception, tt.out, tt.class)
			}
			if class == "OSError" && (r.Refusal != 77 || !strings.Contains(r.Exception.Message, "not yours")) {
				t.Errorf("got refusal %d and %q, want the guard's", r.Refusal, r.Exception.Message)
			}
			if r := g.exec("print('next')"); r.Exception != nil || r.out != "next\n" || len(r.calls) > 0 {
				t.Errorf("next job: got %q, %+v, %v", r.out, r.Exception, r.calls)
			}
		})
	}
}

// What comes of a handler that runs in the idle machine, and of an exec's value, tells of it too.
func TestPostedRefusalOfOtherJobs(t *testing.T) {
	g := start(t)
	g.answer = postable(true)
	if r := g.exec(pin5 + "p.irq(lambda p: p.on())"); r.Exception != nil {
		t.Fatalf("got %+v", r.Exception)
	}
	g.answer = func(c hw.Call) hw.Reply {
		if c.Op == hw.OpPinWrite && !c.Posted { // the first of a job, which is not posted yet
			return hw.Reply{Extra: hw.PostAllowed}
		}
		return postable(true)(c)
	}
	r := g.run(hw.Job{Kind: hw.JobHandler, Edge: hw.Edge{Pin: 3, Rose: true}})
	if ops(r.calls) != "w" || r.Exception != nil {
		t.Errorf("handler: got %s, %+v, want one write that was waited for", ops(r.calls), r.Exception)
	}
	r = g.run(hw.Job{Kind: hw.JobExec, Session: "s", Eval: true, Code: "p.off(); p.on(); 42"})
	if r.Exception == nil || r.Exception.Class != "OSError" || r.Value != nil {
		t.Errorf("value: got %s, %+v, want OSError alone", r.Value, r.Exception)
	}
}

// An interrupt is heard while a program posts as fast as it can, and comes before a failure that waits.
func TestInterruptWhilePosting(t *testing.T) {
	for _, refuse := range []bool{false, true} {
		g := start(t)
		g.answer = postable(refuse)
		g.begin(hw.Job{Kind: hw.JobExec, Code: pin5 + "while True:\n try:\n  p.on(); p.off()\n except OSError: pass", MaxOutput: 4096})
		g.interruptAfter(20 * time.Millisecond)
		began := time.Now()
		r := g.finish()
		if r.Exception == nil || r.Exception.Class != "KeyboardInterrupt" {
			t.Errorf("got %+v, want KeyboardInterrupt", r.Exception)
		}
		t.Logf("ended %v after the start, with %d calls", time.Since(began), len(r.calls))
	}
}

// The machine takes in what it can while it waits for room, and its records stay whole.
func TestChannelOverRings(t *testing.T) {
	mem := make([]byte, frame.SharedBytes)
	c := &channel{fd: -1, in: make([]byte, 2*limits.FrameBytes), mem: mem}
	c.share()
	in, out := frame.Rings(mem, true)
	want := frame.Output{Seq: 1, Stream: hw.Stdout, Data: []byte(strings.Repeat("x", limits.OutputMax))}
	edge := frame.Edge{Edge: hw.Edge{Pin: 7, Rose: true}}
	buf, err := frame.Append(nil, edge)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if n, err := out.Write(buf); n != len(buf) || err != nil {
			t.Fatalf("Write: got %d, %v", n, err)
		}
		if err := c.send(want); err != nil {
			t.Fatal(err)
		}
		if got, err := c.receive(false); !got || err != nil {
			t.Fatalf("receive: got %v, %v", got, err)
		}
		rec, err := c.next()
		if rec != edge || err != nil {
			t.Fatalf("next: got %+v, %v", rec, err)
		}
	}
	sent, err := frame.Append(nil, want)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, limits.RingBytes)
	n, err := in.Read(got)
	if err != nil || !slices.Equal(got[:n], slices.Concat(sent, sent, sent)) {
		t.Errorf("the guard read %d bytes, %v, want thrice %d", n, err, len(sent))
	}
}
