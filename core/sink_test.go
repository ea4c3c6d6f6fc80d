package core

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/hw/hwtest"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// run teaches a program and returns its result.
func (r *rig) run(c *client, p program, o protocol.Exec) *protocol.Result {
	r.t.Helper()
	id := fmt.Sprint("run", r.core.traces.Load())
	r.agent.taught(id, p)
	o.Code = id
	c.request("exec", id, &o)
	for {
		if res, ok := c.read().(*protocol.Result); ok && *res.ID == id {
			return res
		}
	}
}

func TestEffects(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		c := r.dial(r.bot)
		res := r.run(c, func(g *guest) *hw.Exception { return g.drive("5", 1, 1, 0) }, protocol.Exec{})
		got := ""
		for _, e := range res.Effects {
			got += fmt.Sprintf("%s %s %d>%d=%d;", e.Pin, e.Name, e.From, e.To, e.ReadBack)
		}
		if want := "5 LED 0>1=1;5 LED 1>0=0;"; got != want {
			t.Errorf("effects: got %s, want the changes and no more: %s", got, want)
		}
		const flips = 1000
		res = r.run(c, func(g *guest) *hw.Exception {
			h, e := g.open("LED", hw.ModeOut)
			for range flips {
				if e == nil {
					_, e = g.call(hw.Call{Op: hw.OpPinToggle, Pin: h})
				}
			}
			return e
		}, protocol.Exec{})
		if len(res.Effects) != limits.EffectsKept || res.EffectsCount != flips {
			t.Errorf("got %d effects of %d, want %d of %d", len(res.Effects), res.EffectsCount, limits.EffectsKept, flips)
		}
	})
}

// Only the guard's own last refusal makes a result a refusal, and only when the program did not catch it.
func TestRefusals(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		c := r.dial(r.bot)
		refused := func(g *guest, pin string) uint32 {
			reply, _ := g.call(hw.Call{Op: hw.OpPinOpen, Text: pin})
			return reply.Refusal
		}
		raised := &hw.Exception{Class: "OSError", Message: "[Errno 13] EACCES: looks like one"}
		for _, test := range []struct {
			name string
			run  program
			want protocol.Code
			rule string
			n    int
		}{
			{"uncaught", func(g *guest) *hw.Exception { _, e := g.open("0", hw.ModeOut); return e }, protocol.CodeDenied, "system pin", 1},
			{"caught", func(g *guest) *hw.Exception { refused(g, "0"); g.out.Refusal = 0; return nil }, "", "", 1},
			{"caught-then-another-error", func(g *guest) *hw.Exception { refused(g, "0"); g.out.Refusal = 0; return raised }, protocol.CodePythonError, "", 1},
			{"last-of-two", func(g *guest) *hw.Exception { refused(g, "0"); refused(g, "nothing"); return raised }, protocol.CodeNotFound, "unknown pin", 2},
			{"first-of-two", func(g *guest) *hw.Exception {
				first := refused(g, "0")
				refused(g, "nothing")
				g.out.Refusal = first
				return raised
			}, protocol.CodePythonError, "", 2},
			{"forged", func(g *guest) *hw.Exception { g.out.Refusal = 1; return raised }, protocol.CodePythonError, "", 0},
			{"forged-next", func(g *guest) *hw.Exception { g.out.Refusal = r.core.refusals.Load() + 1; return raised }, protocol.CodePythonError, "", 0},
			{"forged-without-error", func(g *guest) *hw.Exception { g.out.Refusal = refused(g, "0"); return nil }, "", "", 1},
			{"may-never-have", func(g *guest) *hw.Exception {
				_, e := g.call(hw.Call{Op: hw.OpRefuse, Text: strings.Repeat("é", 1000)})
				return e
			}, protocol.CodeDenied, "guard.owned", 1},
			{"unknown-operation", func(g *guest) *hw.Exception { _, e := g.call(hw.Call{Op: 200}); return e }, protocol.CodePythonError, "", 0},
			{"wild-handle", func(g *guest) *hw.Exception { _, e := g.call(hw.Call{Op: hw.OpPinWrite, Pin: 65535, A: 1}); return e }, protocol.CodeNotFound, "unknown pin", 1},
			{"wild-level", func(g *guest) *hw.Exception {
				h, _ := g.open("LED", hw.ModeOut)
				_, e := g.call(hw.Call{Op: hw.OpPinWrite, Pin: h, A: 1 << 32})
				return e
			}, protocol.CodeBadRequest, "argument", 1},
			{"wild-mode", func(g *guest) *hw.Exception {
				h, _ := g.open("LED", hw.ModeNone)
				_, e := g.call(hw.Call{Op: hw.OpPinMode, Pin: h, A: 256 + int64(hw.ModeOut), C: 1})
				return e
			}, protocol.CodeBadRequest, "argument", 1},
			{"board-call-in-open-mode", func(g *guest) *hw.Exception { _, e := g.call(hw.Call{Op: hw.OpBoardCall, Text: "f"}); return e }, protocol.CodePythonError, "", 0},
		} {
			res := r.run(c, test.run, protocol.Exec{})
			if res.Code != test.want || res.Rule != test.rule || res.EffectsRefused != test.n {
				t.Errorf("%s: got code %q rule %q refused %d, want %q %q %d", test.name, res.Code, res.Rule, res.EffectsRefused, test.want, test.rule, test.n)
			}
			if (res.Refusal != 0) != (test.rule != "") || len(res.Resource) > limits.NameBytes || !utf8.ValidString(res.Message) {
				t.Errorf("%s: got refusal %d resource %q message %q", test.name, res.Refusal, res.Resource, res.Message)
			}
		}
		r.wantLevel("after all that", "LED", 0)
	})
}

func TestOutputIsCut(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		c := r.dial(r.bot)
		say := func(chunks ...string) program {
			return func(g *guest) *hw.Exception {
				for _, s := range chunks {
					g.print(s)
				}
				return nil
			}
		}
		ten := int64(10)
		for _, test := range []struct {
			name    string
			chunks  []string
			max     *int64
			want    string
			dropped int
		}{
			{"fits", []string{"0123456789"}, &ten, "0123456789", 0},
			{"one-more", []string{"0123456789", "a"}, &ten, "0123456789", 1},
			{"within-a-rune", []string{"01234567é€€"}, &ten, "01234567é", 6},
			{"within-a-rune-2", []string{"012345678é"}, &ten, "012345678", 2},
			{"rune-in-two-chunks", []string{"01234567\xe2", "\x82\xac"}, &ten, "01234567", 3},
			{"rune-in-two-chunks-fits", []string{"0123456\xe2", "\x82\xac"}, &ten, "0123456€", 0},
			{"never-finished", []string{"abc\xe2\x82"}, &ten, "abc\ufffd\ufffd", 0},
			{"invalid", []string{"a\xffb"}, &ten, "a\ufffdb", 0},
			{"default", []string{strings.Repeat("x", limits.OutputDefault+5)}, nil, strings.Repeat("x", limits.OutputDefault), 5},
		} {
			for _, stream := range []bool{false, true} {
				res := r.run(c, say(test.chunks...), protocol.Exec{MaxOutput: test.max, Stream: stream})
				if res.Stdout != test.want || res.DroppedBytes != test.dropped || res.Truncated != (test.dropped > 0) {
					t.Errorf("%s, stream %v: got %q, %d dropped, truncated %v; want %q, %d", test.name, stream, res.Stdout, res.DroppedBytes, res.Truncated, test.want, test.dropped)
				}
			}
		}
		// Both streams have room of their own.
		res := r.run(c, func(g *guest) *hw.Exception {
			g.print("0123456789")
			g.sink.Output(hw.Stderr, []byte("0123456789"))
			return nil
		}, protocol.Exec{MaxOutput: &ten})
		if res.Stdout != res.Stderr || res.Truncated {
			t.Errorf("both streams: got %q and %q truncated %v, want all of both", res.Stdout, res.Stderr, res.Truncated)
		}
	})
}

// The streamed parts, put together, are the stream of the result.
func TestStreaming(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		c := r.dial(r.bot)
		const text = "a€b\xffé\xe2\x82"
		r.agent.taught("say", func(g *guest) *hw.Exception {
			for i := range len(text) {
				g.print(text[i : i+1])
			}
			g.sink.Output(hw.Stderr, []byte("oops"))
			return nil
		})
		c.request("exec", "1", &protocol.Exec{Code: "say", Stream: true})
		var parts [2]string
		for seq := 0; ; seq++ {
			switch m := c.read().(type) {
			case *protocol.Output:
				if m.Seq != seq || *m.ID != "1" {
					t.Errorf("got seq %d id %s, want %d of 1", m.Seq, *m.ID, seq)
				}
				parts[map[string]int{"stdout": 0, "stderr": 1}[m.Stream]] += m.Data
				continue
			case *protocol.Result:
				if m.Stdout != parts[0] || m.Stderr != parts[1] || m.Stdout != "a€b\ufffdé\ufffd\ufffd" {
					t.Errorf("got parts %q, result %q and %q", parts, m.Stdout, m.Stderr)
				}
			}
			break
		}
	})
}

// A program that prints faster than its client reads loses streamed parts, never the result or the connection.
func TestStreamingFlood(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		c := r.dial(r.bot)
		c.request("subscribe", "s", &protocol.Subscribe{})
		c.ack("s")
		const lines = 10 * limits.ConnWriteQueue
		r.agent.taught("flood", func(g *guest) *hw.Exception {
			for range lines {
				g.print("x")
				g.call(hw.Call{Op: hw.OpEvent, Text: "tick"})
			}
			return nil
		})
		c.request("exec", "1", &protocol.Exec{Code: "flood", Stream: true})
		outputs, events, gaps, next, done := 0, 0, 0, 0, false
		for !done || events < lines {
			switch m := c.read().(type) {
			case *protocol.Output:
				outputs++
				gaps += m.Seq - next
				next = m.Seq + 1
			case *protocol.Event:
				events++
			case *protocol.Result:
				done = true
				if len(m.Stdout) != lines {
					t.Errorf("result: got %d bytes, want %d", len(m.Stdout), lines)
				}
			}
		}
		if outputs == 0 || gaps < 0 || outputs+gaps > lines {
			t.Errorf("got %d parts and gaps of %d in seq, of %d lines in all", outputs, gaps, lines)
		}
	})
}

func TestGuestEvents(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		g := &guest{ctx: context.Background(), sink: &sink{c: r.core}}
		for _, test := range []struct {
			name, data string
			want       string // of the event, empty when it is refused
		}{
			{"ok", "", `{}`},
			{"ok", "null", `{}`},
			{"ok", ` {"a" : [1, 2]} `, `{"a":[1,2]}`},
			{"ok", `7`, `{"value":7}`},
			{strings.Repeat("n", limits.EventNameBytes), "1", `{"value":1}`},
			{strings.Repeat("n", limits.EventNameBytes+1), "1", ""},
			{"", "1", ""},
			{"estop\n", "1", ""},
			{"a b", "1", ""},
			{"ok", `{"a":1,"a":2}`, ""},
			{"ok", `{} {}`, ""},
			{"ok", `"\ud800"`, ""},
			{"ok", "\"\xff\"", ""},
			{"ok", strings.Repeat("[", limits.JSONDepth) + strings.Repeat("]", limits.JSONDepth), ""},
			{"ok", `"` + strings.Repeat("x", limits.EventDataBytes) + `"`, ""},
		} {
			before := r.events.Last()
			reply := g.sink.Call(g.ctx, hw.Call{Op: hw.OpEvent, Text: test.name, Data: []byte(test.data)})
			if test.want == "" {
				if reply.Errno != errnoINVAL || reply.Refusal != 0 || r.events.Last() != before {
					t.Errorf("event %q %.40q: got %+v, want EINVAL and no event", test.name, test.data, reply)
				}
				continue
			}
			got := r.seen("user:" + test.name)
			if reply.Errno != 0 || r.events.Last() != before+1 || got[len(got)-1] != test.want {
				t.Errorf("event %q %q: got %+v and %q, want %s", test.name, test.data, reply, got, test.want)
			}
		}
	})
}

func TestEcho(t *testing.T) {
	yes, no := true, false
	for _, test := range []struct {
		exec protocol.Exec
		want bool
	}{
		{protocol.Exec{Code: "1"}, true},
		{protocol.Exec{Code: "1\n"}, true},
		{protocol.Exec{Code: "1\n\n"}, false},
		{protocol.Exec{Code: "1\n2"}, false},
		{protocol.Exec{Code: "1\n2", Echo: &yes}, true},
		{protocol.Exec{Code: "1", Echo: &no}, false},
		{protocol.Exec{Code: "1", Eval: true}, false},
		{protocol.Exec{Code: "1", Eval: true, Echo: &yes}, true},
	} {
		if got := echoes(&test.exec); got != test.want {
			t.Errorf("%+v: got %v, want %v", test.exec, got, test.want)
		}
	}
}

func TestValue(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		c := r.dial(r.bot)
		c.request("exec", "1", &protocol.Exec{Code: hwtest.Answer, Eval: true})
		if res := c.wantCode("1", ""); string(res.Value) != "42" {
			t.Errorf("got value %s, want 42", res.Value)
		}
		// What a hostile machine calls a value must not break the answer.
		for _, bad := range []string{`{"a":1,"a":2}`, "nonsense", "1 2", "\"\xff\"", strings.Repeat("[", 64)} {
			res := r.run(c, func(g *guest) *hw.Exception { g.out.Value = []byte(bad); return nil }, protocol.Exec{})
			if res.Code != "" || res.Value != nil {
				t.Errorf("value %.20q: got code %q value %s, want an answer without", bad, res.Code, res.Value)
			}
		}
	})
}
