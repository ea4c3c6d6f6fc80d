//go:build unix

// Package faults breaks a whole terminal in every way that the design names, and holds what is seen then against what it says: each
// fault, each cause of a safe state, each way around the e-stop, clocks that lie, secrets, messages that come twice.
package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/test/terminal"
	"github.com/pal-terminal/pal/transport"
	"github.com/pal-terminal/pal/vm"
)

const (
	patience = 20 * time.Second       // bounds the wait for what never comes
	slack    = 400 * time.Millisecond // what a busy machine may add to a time
)

// What is measured is printed, also without -v.
var figures struct {
	sync.Mutex
	lines []string
}

func figure(format string, args ...any) {
	figures.Lock()
	defer figures.Unlock()
	figures.lines = append(figures.lines, fmt.Sprintf(format, args...))
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, line := range figures.lines {
		fmt.Println(line)
	}
	os.Exit(code)
}

// boardYAML has an output for each rule.
const boardYAML = `
board: faults
mode: %s
max_exec: 1m
board_py: board.py
pins:
  - {id: 0, name: BOOT, owner: system}
  - {id: 1, name: LED, owner: agent, can: [in, out, pwm], safe: low}
  - {id: 2, name: VALVE, owner: agent, can: [out], safe: high}
  - {id: 3, name: PUMP, owner: agent, can: [out], safe: low, on_disconnect: safe}
  - {id: 4, name: FAN, owner: agent, can: [out, pwm], safe: low}
  - {id: 5, name: HEATER, owner: agent, can: [out], safe: low, trip: {adc: TEMP, above: 2000, for_ms: 20}}
  - {id: 6, name: TEMP, owner: agent, can: [in, adc]}
  - {id: 7, name: LOCK, owner: agent, can: [out], safe: low, lease_required: true}
  - {id: 8, name: MAIN, owner: agent, can: [out], safe: low, danger: high}
  - {id: 9, name: SDA, owner: agent, can: [in, open_drain, i2c], safe: high, pull: up}
  - {id: 10, name: SCL, owner: agent, can: [in, open_drain, i2c], safe: high, pull: up}
  - {id: 11, name: BUTTON, owner: agent, can: [in], pull: up}
  - {id: 12, name: RELAY, owner: agent, can: [out], safe: low}
buses:
  - {i2c: 0, sda: SDA, scl: SCL, owner: agent}
drivers: {kind: sim}
devices:
  - {type: led, pin: LED}
  - {type: adc, pin: TEMP, value: 310}
  - {type: button, pin: BUTTON}
  - {type: bh1750, bus: i2c0}
`

const boardPy = `
from machine import Pin
LED = Pin("LED", Pin.OUT)
RELAY = Pin("RELAY", Pin.OUT)
@tool
def relay_on() -> None:
    RELAY.on()
`

// outputs are the pins of the board with their safe levels.
var outputs = map[string]int{"LED": 0, "VALVE": 1, "PUMP": 0, "FAN": 0, "HEATER": 0, "LOCK": 0, "MAIN": 0, "RELAY": 0}

func newBoard(t testing.TB, mode string) *board.Description {
	t.Helper()
	d, err := load.Bytes("board.yaml", fmt.Appendf(nil, boardYAML, mode), []byte(boardPy))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// rig is a terminal and who uses it.
type rig struct {
	*terminal.Terminal
	t            testing.TB
	desc         *board.Description
	human, agent *client.Client
}

func start(t testing.TB, o terminal.Options) *rig {
	t.Helper()
	if o.Board == nil {
		o.Board = newBoard(t, "open")
	}
	r := &rig{t: t, desc: o.Board, Terminal: terminal.StartWith(t, o)}
	r.human, r.agent = r.dial(r.Human), r.dial(r.Agent)
	return r
}

func (r *rig) dial(token string) *client.Client {
	r.t.Helper()
	c, err := client.Dial(r.t.Context(), client.Target{URL: r.URL, Token: token})
	if err != nil {
		r.t.Fatalf("dial: %v", err)
	}
	r.t.Cleanup(func() { c.Close() }) // it may have ended
	return c
}

// token makes an actor.
func (r *rig) token(name string, class identity.Class, ask bool, scopes ...identity.Scope) string {
	r.t.Helper()
	token, _, err := r.Identity.Create(name, class, scopes, ask, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	return token
}

// end ends the terminal, to start another in its folder.
func (r *rig) end() {
	r.t.Helper()
	if err := r.Close(); err != nil {
		r.t.Fatalf("end terminal: %v", err)
	}
}

func (r *rig) ctx() context.Context {
	ctx, done := context.WithTimeout(r.t.Context(), patience)
	r.t.Cleanup(done)
	return ctx
}

// exec runs code and returns its result, whatever it is.
func (r *rig) exec(c *client.Client, e protocol.Exec) *protocol.Result {
	r.t.Helper()
	res, err := c.Exec(r.ctx(), e)
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return &protocol.Result{Error: true, Code: e.Code, Rule: e.Rule, Resource: e.Resource, Holder: e.Holder, Message: e.Message}
	}
	if err != nil {
		r.t.Fatalf("exec of %.80q: %v", e.Code, err)
	}
	return res
}

// run runs code that has to succeed.
func (r *rig) run(c *client.Client, code string) *protocol.Result {
	r.t.Helper()
	res := r.exec(c, protocol.Exec{Code: code})
	if res.Error {
		r.t.Fatalf("exec of %.80q: got %+v, want success", code, res)
	}
	return res
}

// level is what the simulated board has at a pin: what the guard says of it is not asked.
func (r *rig) level(name string) int {
	r.t.Helper()
	p, ok := r.desc.Lookup(name)
	if !ok {
		r.t.Fatalf("no pin %s", name)
	}
	level, err := r.Sim.(board.Driver).Get(p)
	if err != nil {
		r.t.Fatal(err)
	}
	return level
}

func (r *rig) wantLevel(when, name string, want int) {
	r.t.Helper()
	if got := r.level(name); got != want {
		r.t.Errorf("%s: %s is %d, want %d", when, name, got, want)
	}
}

// wantSafe checks that every output is safe.
func (r *rig) wantSafe(when string) {
	r.t.Helper()
	for name, safe := range outputs {
		if _, ok := r.desc.Lookup(name); ok {
			r.wantLevel(when, name, safe)
		}
	}
}

// machine is a machine that has a process.
func (r *rig) machine(label string) (found vm.MachineStatus) {
	r.t.Helper()
	eventually(r.t, "there is a machine "+label, func() bool {
		for _, m := range r.Pool.Status().Machines {
			if m.Label == label && m.Pid != 0 {
				found = m
			}
		}
		return found.Pid != 0
	})
	return found
}

func (r *rig) signal(label string, s syscall.Signal) {
	r.t.Helper()
	if err := syscall.Kill(r.machine(label).Pid, s); err != nil {
		r.t.Fatal(err)
	}
}

// eventually waits for a fact.
func eventually(t testing.TB, what string, fact func() bool) {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for !fact() {
		select {
		case <-again.C:
		case <-late.C:
			t.Fatalf("%s: not so within %v", what, patience)
		}
	}
}

// happened returns the events of a name that the ring holds.
func (r *rig) happened(name string) (list []map[string]any) {
	r.t.Helper()
	zero := uint64(0)
	reader := r.Events.Reader([]string{name}, &zero)
	reader.Start()
	defer reader.Stop()
	for {
		e, ok := reader.Next()
		if !ok {
			return list
		}
		var data map[string]any
		if err := json.Unmarshal(e.Data, &data); err != nil {
			r.t.Fatal(err)
		}
		list = append(list, data)
	}
}

// waitEvent waits until an event of a name says all of want.
func (r *rig) waitEvent(name string, want map[string]any) (found map[string]any) {
	r.t.Helper()
	eventually(r.t, fmt.Sprintf("event %s %v", name, want), func() bool {
		for _, data := range slices.Backward(r.happened(name)) {
			all := true
			for key, v := range want {
				all = all && strings.Contains(fmt.Sprint(data[key]), fmt.Sprint(v))
			}
			if all {
				found = data
				return true
			}
		}
		return false
	})
	return found
}

// task registers a task.
func (r *rig) task(c *client.Client, code string, b protocol.Brief) string {
	r.t.Helper()
	a, err := c.Register(r.ctx(), protocol.Register{Brief: &b, Code: code})
	if err != nil {
		r.t.Fatalf("register %s: %v", b.Name, err)
	}
	return a.TaskID
}

func every(name string, interval time.Duration, resources ...protocol.ResourceUse) protocol.Brief {
	return protocol.Brief{Name: name, IntervalMS: new(interval.Milliseconds()), Resources: resources}
}

func drives(name string) protocol.ResourceUse { return protocol.ResourceUse{Resource: name} }

func (r *rig) info(id string) *protocol.TaskInfo {
	r.t.Helper()
	a, err := r.human.Task(r.ctx(), id)
	if err != nil {
		r.t.Fatalf("task %s: %v", id, err)
	}
	return a.Task
}

// runsOn checks that the guard runs on while something happens: pings are answered on another connection, and a task is run.
func (r *rig) runsOn(row string, fault func()) {
	r.t.Helper()
	beat := r.task(r.human, "pass", every("beat", 20*time.Millisecond))
	eventually(r.t, "the task runs", func() bool { return r.info(beat).Runs > 0 })
	began := r.info(beat).Runs
	other, ended := r.dial(r.Human), make(chan struct{})
	slowest, count := time.Duration(0), 0
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for more := true; more; count++ {
			select {
			case <-ended:
				more = false
			case <-tick.C:
			}
			at := time.Now()
			if err := other.Ping(r.ctx()); err != nil {
				r.t.Errorf("%s: a ping meanwhile: %v", row, err)
				return
			}
			slowest = max(slowest, time.Since(at))
		}
	})
	at := time.Now()
	fault()
	took := time.Since(at)
	during := r.info(beat).Runs - began
	close(ended)
	wg.Wait()
	eventually(r.t, row+": the task goes on", func() bool { return r.info(beat).Runs > began+during })
	if least := uint64(took / (20 * time.Millisecond) / 10); during < least {
		r.t.Errorf("%s: the task ran %d times in %v, want at least %d", row, during, took, least)
	}
	if slowest > time.Second {
		r.t.Errorf("%s: a ping took %v meanwhile", row, slowest)
	}
	if _, err := r.human.Cancel(r.ctx(), beat); err != nil {
		r.t.Errorf("%s: cancel: %v", row, err)
	}
	figure("%s: %v; meanwhile %d pings, the slowest %v, and %d runs of a task", row, took.Round(time.Millisecond), count, slowest.Round(time.Microsecond), during)
}

// works checks that the next program runs.
func (r *rig) works(after string) {
	r.t.Helper()
	if res := r.exec(r.agent, protocol.Exec{Code: "print(1 + 2)"}); res.Stdout != "3\n" || res.Error {
		r.t.Errorf("the next exec after %s: got %+v, want 3", after, res)
	}
}

// outcome is the code and rule of a result, or of the refusal in its place.
func outcome(res *protocol.Result, err error) (protocol.Code, string) {
	if err != nil {
		return refusal(err)
	}
	return res.Code, res.Rule
}

// refusal is the code and rule of an error.
func refusal(err error) (protocol.Code, string) {
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return e.Code, e.Rule
	}
	return "", ""
}

// send writes a message as it stands.
func send(t testing.TB, conn transport.Conn, message string) {
	t.Helper()
	ctx, done := context.WithTimeout(t.Context(), patience)
	defer done()
	if err := conn.Write(ctx, []byte(message)); err != nil {
		t.Fatalf("send %.120q: %v", message, err)
	}
}

// receive reads the next message that is no event.
func receive(t testing.TB, conn transport.Conn) string {
	t.Helper()
	ctx, done := context.WithTimeout(t.Context(), patience)
	defer done()
	for {
		answer, err := conn.Read(ctx)
		if err != nil {
			t.Fatalf("read an answer: %v", err)
		}
		if !strings.Contains(string(answer), `"type":"event"`) {
			return string(answer)
		}
	}
}

// say sends a message and returns its answer.
func say(t testing.TB, conn transport.Conn, message string) string {
	t.Helper()
	send(t, conn, message)
	return receive(t, conn)
}
