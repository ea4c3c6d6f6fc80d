//go:build unix

package faults

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pal-terminal/pal/core"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/test/terminal"
)

// within checks a time of recovery; a busy machine has its slack.
func within(t testing.TB, row string, took, most time.Duration) {
	t.Helper()
	figure("%s: recovered in %v (at most %v)", row, took.Round(10*time.Microsecond), most)
	if took > most+slack {
		t.Errorf("%s: recovered in %v, want at most %v", row, took, most)
	}
}

// The rows of the table of faults that concern the program and its machine. One terminal has them one after the other.
func TestProgramFaults(t *testing.T) {
	r := start(t, terminal.Options{})
	generation := func() uint64 { return r.machine(core.MachineAgent).Generation }
	for _, row := range []struct {
		name    string
		fault   protocol.Exec
		code    protocol.Code
		rung    int
		lost    bool // the machine
		most    time.Duration
		holds   func(*protocol.Result) string
		drives  string // the output it has on when it ends
		endsOff bool
	}{
		{
			name: "Python exception", fault: protocol.Exec{Code: "LED.on()\nx = 1\nraise ValueError('seven')"}, code: protocol.CodePythonError, most: 0, drives: "LED",
			holds: func(res *protocol.Result) string {
				if e := res.Exception; e == nil || e.Class != "ValueError" || e.Line != 3 || e.Message != "seven" || !strings.Contains(res.Stderr, "ValueError: seven") {
					return "class ValueError, line 3, text seven"
				}
				return ""
			},
		},
		{
			name: "deadline", fault: protocol.Exec{Code: "LED.on()\nx = 2\nwhile True: pass", TimeoutMS: new(int64(300))}, code: protocol.CodeDeadline, rung: 1,
			most: 350 * time.Millisecond, drives: "LED", endsOff: true,
		},
		{
			name: "loop that swallows KeyboardInterrupt", code: protocol.CodeDeadline, rung: 2, lost: true, most: 550 * time.Millisecond, drives: "LED", endsOff: true,
			fault: protocol.Exec{Code: "LED.on()\nx = 3\nwhile True:\n  try:\n    while True: pass\n  except BaseException: pass", TimeoutMS: new(int64(300))},
		},
		{
			name: "output flood", fault: protocol.Exec{Code: "x = 4\nfor i in range(20000): print('flood', i)"}, most: 3 * time.Second,
			holds: func(res *protocol.Result) string {
				if !res.Truncated || len(res.Stdout) > limits.OutputDefault || res.DroppedBytes < 100_000 || !strings.HasPrefix(res.Stdout, "flood 0\n") {
					return "truncated"
				}
				return ""
			},
		},
		{
			name: "held bus", fault: protocol.Exec{Code: "from machine import I2C\nx = 5\nI2C(0).readfrom(0x23, 2)"}, code: protocol.CodePythonError, most: 200 * time.Millisecond,
			holds: func(res *protocol.Result) string {
				if e := res.Exception; e == nil || e.Class != "OSError" || !strings.Contains(e.Message, "ETIMEDOUT") {
					return "OSError ETIMEDOUT"
				}
				return ""
			},
		},
		{
			name: "missing bus device", fault: protocol.Exec{Code: "from machine import I2C\nx = 6\nI2C(0).readfrom(0x23, 2)"}, code: protocol.CodePythonError, most: 200 * time.Millisecond,
			holds: func(res *protocol.Result) string {
				if e := res.Exception; e == nil || e.Class != "OSError" {
					return "OSError"
				}
				return ""
			},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			rt := *r
			rt.t = t
			rt.run(r.agent, "x = 0\nLED.off()")
			if row.name == "held bus" || row.name == "missing bus device" {
				fault := map[string]string{"held bus": "held", "missing bus device": "disconnect"}[row.name]
				if _, err := r.Sim.Sim("fault", "BH1750", fault); err != nil {
					t.Fatal(err)
				}
				defer r.Sim.Sim("fault", "BH1750", "off") // the device is there
			}
			before, seq := generation(), r.Events.Last()
			var res *protocol.Result
			rt.runsOn(row.name, func() {
				at := time.Now()
				res = rt.exec(r.agent, row.fault)
				within(t, row.name, time.Since(at), row.most)
			})
			if res.Code != row.code || res.Rung != row.rung || res.Error != (row.code != "") || res.VMRestarted != row.lost {
				t.Errorf("got code %q, rung %d, error %v, vm_restarted %v: %+v", res.Code, res.Rung, res.Error, res.VMRestarted, res)
			}
			if row.holds != nil {
				if want := row.holds(res); want != "" {
					t.Errorf("got %+v %+v, want %s", res, res.Exception, want)
				}
			}
			if !row.lost && generation() != before {
				t.Error("the machine was replaced")
			}
			if row.lost {
				eventually(t, "the machine is replaced", func() bool { return generation() != before })
				rt.waitEvent("core1_restarted", map[string]any{"machine": core.MachineAgent})
			}
			if row.drives != "" {
				rt.wantLevel("after it", row.drives, map[bool]int{true: 0, false: 1}[row.endsOff])
			}
			if res := rt.exec(r.agent, protocol.Exec{Code: "print(x)"}); res.Error != row.lost { // names are gone with the machine, and with it alone
				t.Errorf("names after it: got %+v", res)
			}
			if row.name == "held bus" {
				if r.Events.Last() == seq || len(rt.happened("bus_recovered")) == 0 {
					t.Error("no event bus_recovered")
				}
			}
			rt.works(row.name)
		})
	}
}

// VM crash: the process is killed under a program and while nothing runs, also that of the tasks.
func TestVMCrash(t *testing.T) {
	r := start(t, terminal.Options{})
	kill := func(label string) { r.signal(label, syscall.SIGKILL) }
	r.runsOn("VM crash", func() {
		ended := make(chan *protocol.Result, 1)
		go func() {
			res, err := r.agent.Exec(t.Context(), protocol.Exec{Code: "LED.on()\nVALVE = Pin('VALVE', Pin.OUT)\nVALVE.off()\nwhile True: pass"})
			if err != nil {
				t.Errorf("exec: %v", err)
			}
			ended <- res
		}()
		eventually(t, "it drives", func() bool { return r.level("VALVE") == 0 && r.level("LED") == 1 })
		kill(core.MachineAgent)
		at := time.Now()
		res := <-ended
		if res == nil || res.Code != protocol.CodeVMRestarted || !res.VMRestarted || !res.Error || !res.Code.Retryable() {
			t.Errorf("got %+v, want vm_restarted, retryable", res)
		}
		r.wantLevel("when the caller hears of it", "LED", 0)
		r.wantLevel("when the caller hears of it", "VALVE", 1)
		r.works("the crash")
		within(t, "VM crash", time.Since(at), 50*time.Millisecond)
	})
	r.waitEvent("core1_restarted", map[string]any{"machine": core.MachineAgent})

	r.run(r.agent, "LED.on()")
	kill(core.MachineAgent)
	eventually(t, "what the idle machine drove last is safe", func() bool { return r.level("LED") == 0 })

	id := r.task(r.agent, "FAN = Pin('FAN', Pin.OUT)\nFAN.on()\nimport time\ntime.sleep(30)", protocol.Brief{Name: "long", IntervalMS: new(int64(60_000)), TimeoutMS: new(int64(30_000)), Resources: []protocol.ResourceUse{drives("FAN")}})
	if _, err := r.agent.Trigger(r.ctx(), id); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the task drives", func() bool { return r.level("FAN") == 1 })
	kill(core.MachineTasks)
	eventually(t, "what the task drove is safe", func() bool { return r.level("FAN") == 0 })
	eventually(t, "the run has its outcome", func() bool {
		i := r.info(id)
		return i.Last != nil && i.Last.Outcome == string(protocol.CodeVMRestarted)
	})
	second := r.task(r.agent, "pass", protocol.Brief{Name: "next", AfterMS: new(int64(10))})
	eventually(t, "the next task runs", func() bool { i := r.info(second); return i.Last != nil && i.Last.Outcome == "ok" })
}

// Network lost: the client is gone in the middle; what it left goes on, what must not stay on does not, and it finds its answer and
// what it missed when it comes back.
func TestNetworkLost(t *testing.T) {
	r := start(t, terminal.Options{})
	gone := r.dial(r.Agent)
	id := r.task(gone, "FAN = Pin('FAN', Pin.OUT)\nFAN.toggle()", every("stays", 30*time.Millisecond, drives("FAN")))
	r.run(gone, "Pin('PUMP', Pin.OUT).on()\nPin('RELAY', Pin.OUT).on()")
	conn := r.Dial(r.Agent)
	seq := r.Events.Last()
	raw := r.Pipe(r.Agent)
	say(t, raw, `{"id":"h","type":"hello","client":"came-back"}`)
	send(t, raw, `{"id":"left","type":"exec","detach":true,"code":"import time\ntime.sleep_ms(200)\nprint('done')"}`)
	r.runsOn("network lost", func() {
		eventually(t, "it runs", func() bool { return running(r) })
		raw.Close("cut")
		conn.Close("cut")
		at := time.Now()
		gone.Close() // on purpose in the middle
		eventually(t, "on_disconnect: safe", func() bool { return r.level("PUMP") == 0 })
		within(t, "network lost: on_disconnect", time.Since(at), 100*time.Millisecond)
	})
	r.wantLevel("without the client", "RELAY", 1) // no rule takes it back
	runs := r.info(id).Runs
	eventually(t, "its task goes on", func() bool { return r.info(id).Runs > runs+3 })

	back := r.Pipe(r.Agent)
	say(t, back, `{"id":"h","type":"hello","client":"came-back"}`)
	var answer string
	eventually(t, "the answer is kept for who comes back", func() bool {
		answer = say(t, back, `{"id":"f","type":"fetch","target":"left"}`)
		return strings.Contains(answer, `done\n`)
	})
	again := say(t, back, `{"id":"left","type":"exec","detach":true,"code":"import time\ntime.sleep_ms(200)\nprint('done')"}`)
	if !strings.Contains(again, `"id":"left"`) || !strings.Contains(again, `done\n`) {
		t.Errorf("the same again: got %s", again)
	}
	events, cancel, err := r.dial(r.Agent).Subscribe(r.ctx(), []string{"*"}, &seq)
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	for e := range events {
		if e.Event == "output_safe" && strings.Contains(string(e.Data), "PUMP") {
			if e.Dropped != 0 {
				t.Errorf("%d events were dropped of a ring that holds them", e.Dropped)
			}
			return
		}
	}
	t.Error("what was missed is not told")
}

// running reports whether an exec runs.
func running(r *rig) bool {
	r.t.Helper()
	s, err := r.human.Status(r.ctx())
	if err != nil {
		r.t.Fatal(err)
	}
	return s.Running != nil
}
