//go:build unix

package faults

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/store"
	"github.com/pal-terminal/pal/store/crash"
	"github.com/pal-terminal/pal/test/terminal"
	"github.com/pal-terminal/pal/transport"
)

// watchLines counts the changes away from the safe level of every output.
func (r *rig) watchLines() (changes func() []string) {
	r.t.Helper()
	var mu sync.Mutex
	var seen []string
	for name, safe := range outputs {
		p, _ := r.desc.Lookup(name)
		cancel, err := r.Sim.(board.Driver).Watch(p, hw.EdgeRising|hw.EdgeFalling, func(rose bool, _ time.Time) {
			if rose == (safe == 0) {
				mu.Lock()
				seen = append(seen, name)
				mu.Unlock()
			}
		})
		if err != nil {
			r.t.Fatal(err)
		}
		r.t.Cleanup(cancel)
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(seen)
	}
}

// Nothing of before a release drives after it: what ran, what waited in line, what a machine has posted, armed timers and handlers,
// tasks that were due or triggered.
func TestNothingOutlivesRelease(t *testing.T) {
	r := start(t, terminal.Options{})
	id := r.task(r.agent, "Pin('FAN', Pin.OUT).toggle()", every("fan", 20*time.Millisecond, drives("FAN")))
	for round := range 5 {
		arm := r.exec(r.agent, protocol.Exec{Code: `from machine import Timer
t = Timer(0); t.init(period=5, mode=Timer.PERIODIC, callback=lambda t: Pin('PUMP', Pin.OUT).on())
o = Timer(1); o.init(period=400, mode=Timer.ONE_SHOT, callback=lambda t: Pin('MAIN', Pin.OUT).on())
Pin('BUTTON', Pin.IN).irq(lambda p: Pin('VALVE', Pin.OUT).off(), Pin.IRQ_RISING | Pin.IRQ_FALLING)
import micropython
micropython.schedule(lambda _: None, 0)`})
		if arm.Error {
			t.Fatalf("arm: %+v", arm)
		}
		flood := r.Pipe(r.Agent)
		send(t, flood, `{"id":"flood","type":"exec","timeout_ms":60000,"code":"p = Pin('RELAY', Pin.OUT)\nwhile True:\n  try:\n    while True: p.on(); p.off()\n  except BaseException: pass"}`)
		eventually(t, "the flood drives", func() bool { return r.level("RELAY") == 1 })
		for n := range 6 {
			send(t, flood, fmt.Sprintf(`{"id":"w%d","type":"exec","code":"Pin('LED', Pin.OUT).on()"}`, n))
		}
		eventually(t, "they wait in line", func() bool { s, err := r.human.Status(r.ctx()); return err == nil && s.Waiting == 6 })
		if err := r.agent.Stop(r.ctx(), "now"); err != nil {
			t.Fatal(err)
		}
		r.wantSafe("stopped")
		if _, err := r.agent.Trigger(r.ctx(), id); err == nil {
			t.Log("a trigger of a held task is accepted")
		}
		send(t, flood, `{"id":"during","type":"exec","code":"Pin('LED', Pin.OUT).on()"}`)
		changes := r.watchLines()
		for _, op := range []string{"press", "release", "press"} {
			if _, err := r.Sim.Sim(op, "BUTTON", ""); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.human.EstopClear(r.ctx(), "go on"); err != nil {
			t.Fatal(err)
		}
		for _, op := range []string{"release", "press", "release"} {
			if _, err := r.Sim.Sim(op, "BUTTON", ""); err != nil {
				t.Fatal(err)
			}
		}
		for range 8 { // the flood, the six, and the one that came meanwhile
			if answer := receive(t, flood); !strings.Contains(answer, `"error":true`) {
				t.Errorf("round %d: got %s, want an error", round, answer)
			}
		}
		settle := time.NewTimer(450 * time.Millisecond) // longer than each timer
		<-settle.C
		if got := changes(); len(got) > 0 {
			t.Errorf("round %d: after the release, or while stopped, were driven: %v", round, got)
		}
		r.wantSafe("after the release")
		if i := r.info(id); i.State != "held" {
			t.Errorf("the task is %s, want held until it is resumed", i.State)
		}
		if _, err := r.agent.Resume(r.ctx(), id); err == nil {
			t.Error("an agent resumes after an e-stop")
		}
		if _, err := r.human.Resume(r.ctx(), id); err != nil {
			t.Fatal(err)
		}
		r.run(r.agent, "Pin('LED', Pin.OUT).on()\nPin('LED', Pin.OUT).off()")
		if !slices.Contains(changes(), "LED") {
			t.Fatal("the witness sees nothing")
		}
		flood.Close("round is over")
	}
}

// busy is a load on a terminal: a program that spins and drives, a full disk, a thousand events in a second and who reads them.
func (r *rig) busy(disk *crash.Disk) (rate func() int) {
	r.t.Helper()
	ctx, done := context.WithCancel(r.t.Context())
	var wg sync.WaitGroup
	spin := r.dial(r.Agent)
	wg.Go(func() {
		for ctx.Err() == nil {
			spin.Exec(ctx, protocol.Exec{Code: "import machine\np = Pin('LED', Pin.OUT)\nwhile True:\n  try: p.on(); p.off()\n  except OSError: pass"}) // it ends with each release
		}
	})
	count, began := 0, time.Now()
	var mu sync.Mutex
	wg.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			<-tick.C
			mu.Lock()
			for due := int(time.Since(began) / time.Millisecond); count < due; count++ { // a tick may be lost
				r.Events.Emit("pin_change", map[string]any{"pin": "11", "name": "BUTTON", "value": count & 1})
			}
			mu.Unlock()
		}
	})
	for range 2 {
		events, cancel, err := r.dial(r.Human).Subscribe(r.ctx(), []string{"*"}, nil)
		if err != nil {
			r.t.Fatal(err)
		}
		wg.Go(func() {
			for range events { // only read
			}
		})
		r.t.Cleanup(cancel)
	}
	eventually(r.t, "it spins", func() bool { return running(r) })
	disk.Full(true)
	r.waitEvent("storage", map[string]any{"what": "audit", "lost": true})
	r.t.Cleanup(func() { done(); spin.Close() })
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return int(float64(count) / time.Since(began).Seconds())
	}
}

// The worst case of the e-stop: the machine spins, the disk is full, a thousand events come in a second, all at once. Each stop is
// followed by a person's release.
func TestWorstStop(t *testing.T) {
	disk := crash.New(5)
	r := start(t, terminal.Options{Disk: disk})
	rate := r.busy(disk)
	t.Cleanup(func() { disk.Full(false) }) // so that it can end in order
	person := r.Pipe(r.Human)
	for name, conn := range map[string]transport.Conn{"pipe": r.Pipe(r.Agent), "WebSocket": r.Dial(r.Agent)} {
		var took []time.Duration
		slow := 0
		for n := range 300 {
			at := time.Now()
			answer := say(t, conn, `{"id":"s","type":"stop","reason":"worst"}`)
			took = append(took, time.Since(at))
			if !strings.Contains(answer, `"ack"`) {
				t.Fatalf("stop: got %s", answer)
			}
			if n%50 == 0 {
				r.wantSafe("stopped")
				if _, found, err := store.OpenLatch(disk.Restart(uint64(n)), "estop", true); err != nil || !found.Set {
					t.Errorf("the latch is not on the full disk: %+v, %v", found, err)
				}
			}
			answer = say(t, person, fmt.Sprintf(`{"id":"%s%d","type":"estop_clear"}`, name, n))
			if strings.Contains(answer, "released, but") { // a machine this busy may not write within the time that is waited for
				slow++
			} else if !strings.Contains(answer, `"ack"`) {
				t.Fatalf("release: got %s", answer)
			}
			if stopped, _, _ := r.Table.Stopped(); stopped {
				t.Fatalf("not released: got %s", answer)
			}
		}
		slices.Sort(took)
		at := func(q float64) time.Duration { return took[int(q*float64(len(took)-1))].Round(time.Microsecond) }
		figure("e-stop, worst case, over a %s: ack p50 %v, p99 %v, max %v of %d stops, at %d events a second; %d releases waited for the disk", name, at(0.5), at(0.99), at(1), len(took), rate(), slow)
		if slow > 3 {
			t.Errorf("over a %s %d of 300 releases were not on the disk in time", name, slow)
		}
		if worst := at(1); worst > time.Second {
			t.Errorf("over a %s the slowest stop took %v", name, worst)
		}
	}
}
