package core

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	wire "github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/hw/hwtest"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

func TestCloseWhileThingsRun(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		c, watcher := r.dial(r.bot), r.dial(r.human)
		watcher.request("subscribe", "s", &protocol.Subscribe{Events: []string{"shutdown"}})
		watcher.ack("s")
		r.run(c, drives("LED", 1), protocol.Exec{})
		r.run(c, arms("BUTTON", hw.EdgeFalling), protocol.Exec{})
		h := r.hold("hold")
		c.request("exec", "running", &protocol.Exec{Code: "hold", Detach: true})
		<-h.running
		c.exec("waiting", "ok")
		synctest.Wait()
		c.request("reset", "reset", &protocol.Reset{Session: "main"})
		c.ack("reset")
		check(t, r.close())
		r.wantLevel("closed", "LED", 0)
		for range 2 { // the order of the two is not promised
			res := c.read().(*protocol.Result)
			want := map[string]protocol.Code{"running": protocol.CodeInterrupted, "waiting": protocol.CodeUnavailable}[*res.ID]
			if res.Code != want {
				t.Errorf("%s: got code %q, want %q", *res.ID, res.Code, want)
			}
		}
		c.wantCut("shutting down")
		if ev, ok := watcher.read().(*protocol.Event); !ok || ev.Event != "shutdown" {
			t.Errorf("last event: got %+v, want shutdown", ev)
		}
		watcher.wantCut("shutting down")
		late := r.dial(r.bot)
		if res := late.read().(*protocol.Result); res.Code != protocol.CodeUnavailable {
			t.Errorf("connection after Close: got %q, want %q", res.Code, protocol.CodeUnavailable)
		}
		late.wantCut("shutting down")
		wantRefusal(t, "admit", r.core.Admit(Peer{Credential: r.bot}), protocol.CodeUnavailable)
		check(t, r.close())                              // again
		check(t, r.identity.Revoke(identity.LocalAgent)) // a watcher outlives the core
	})
}

// While the terminal closes, what comes is refused as unavailable; the machine here takes its time to end.
func TestRequestsDuringClose(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		slow := make(chan struct{})
		r.agent.taught("slow", func(*guest) *hw.Exception { <-slow; return nil })
		c := r.dial(r.bot)
		c.exec("1", "slow")
		synctest.Wait()
		c.request("reset", "2", &protocol.Reset{}) // waits for it
		synctest.Wait()
		ended := make(chan error)
		go func() { ended <- r.close() }()
		synctest.Wait()
		c.wantCode("2", protocol.CodeUnavailable)
		for id, message := range map[string]string{
			"a": `{"id":"a","code":"ok"}`,
			"b": `{"id":"b","type":"reset"}`,
			"c": `{"id":"c","type":"pin_set","pin":"LED","value":1}`,
		} {
			c.send(message)
			c.wantCode(id, protocol.CodeUnavailable)
		}
		c.request("stop", "d", &protocol.Stop{})
		c.ack("d")
		close(slow)
		c.wantCode("1", "") // it ended well, though nobody asks it to begin again
		check(t, <-ended)
		c.wantCut("shutting down")
	})
}

// A machine that does not end costs Close its patience, and nothing else.
func TestCloseTimeout(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		stuck := make(chan struct{})
		r.agent.taught("stuck", func(g *guest) *hw.Exception { g.drive("LED", 1); <-stuck; return nil })
		c := r.dial(r.bot)
		c.exec("1", "stuck")
		synctest.Wait()
		ctx, done := context.WithTimeout(t.Context(), time.Second)
		defer done()
		if err := r.core.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the deadline", err)
		}
		r.wantLevel("closed", "LED", 0)
		c.wantCut("shutting down")
		close(stuck)
	})
}

func TestNewRefuses(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("New without anything: got no error")
	}
	bubble(t, options{yaml: engineering}, func(t *testing.T, r *rig) {
		cfg := r.core.cfg
		cfg.BoardVM = nil
		if _, err := New(cfg); err == nil {
			t.Error("engineering mode without a machine for board.py: got no error")
		}
	})
	bubble(t, options{}, func(t *testing.T, r *rig) {
		cfg := r.core.cfg
		cfg.BoardVM = r.agent
		if _, err := New(cfg); err == nil {
			t.Error("open mode with a machine for board.py: got no error")
		}
	})
}

// memory is what is in use after a collection.
func memory() (heap uint64, goroutines int) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc, runtime.NumGoroutine()
}

func TestManyExecsKeepMemoryFlat(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		c := r.dial(r.bot)
		round := func(n int) {
			for i := range n {
				c.request("exec", fmt.Sprint(r.core.traces.Load()), &protocol.Exec{Code: hwtest.Hello, Session: fmt.Sprint("s", i%40)})
				if _, ok := c.read().(*protocol.Result); !ok {
					t.Fatal("got no result")
				}
			}
		}
		round(1000)
		heap, goroutines := memory()
		const execs = 10_000
		round(execs)
		after, left := memory()
		// An id that is remembered costs its answer and some words, for a day.
		if grown := int64(after) - int64(heap); grown > execs*1500 {
			t.Errorf("%d execs: got %d bytes more, want at most what their answers take", execs, grown)
		}
		if left > goroutines {
			t.Errorf("got %d goroutines, had %d", left, goroutines)
		}
		if n := len(r.agent.spaces); n > limits.SessionsPerActor {
			t.Errorf("namespaces: got %d, want at most %d", n, limits.SessionsPerActor)
		}
		for range 500 { // connections leave nothing either
			d := r.dial(r.human)
			d.exec("1", "ok")
			d.wantCode("1", "")
			d.leave()
		}
		synctest.Wait()
		if _, left = memory(); left > goroutines || len(r.core.slots.List()) != 1 {
			t.Errorf("after 500 connections: got %d goroutines and %d connections, had %d and 1", left, len(r.core.slots.List()), goroutines)
		}
	})
}

// TestHammer has many clients do everything at once and ends the terminal among it. Every request that is answered is
// answered once.
func TestHammer(t *testing.T) {
	for seed := range uint64(2) {
		synctest.Test(t, func(t *testing.T) { hammer(t, newRig(t, options{}), seed) })
	}
}

func hammer(t *testing.T, r *rig, seed uint64) {
	r.agent.taught("hold", func(g *guest) *hw.Exception { return g.loop(false) })
	r.agent.taught("crash", func(g *guest) *hw.Exception { g.drive("LED", 1); g.out.Died = true; return nil })
	r.agent.taught("drive", drives("LED", 1, 0, 1))
	r.agent.taught("irq", arms("BUTTON", hw.EdgeFalling))
	bodies := []string{
		`"code":"ok"`, `"code":"drive","stream":true`, `"code":"irq","session":"new"`, `"code":"crash"`, `"code":"hold","timeout_ms":20`,
		`"code":"hold","timeout_ms":50,"detach":true`, `"code":"ok","session":"s%d","stop_on_error":true`, `"type":"interrupt","target":"%d"`,
		`"type":"reset"`, `"type":"reset","session":"s%d"`, `"type":"fetch","target":"%d"`, `"type":"pin_set","pin":"LED","value":1`, `"type":"pin_read","pin":"LED"`,
		`"type":"subscribe","since":0`, `"type":"unsubscribe"`, `"type":"status"`, `"type":"describe"`, `"type":"ping"`, `"type":"hello","client":"c%d"`,
		`"type":"stop"`, `"type":"estop_clear"`, `"type":"sim","op":"press","name":"BUTTON"`, `"type":"sim","op":"release","name":"BUTTON"`, `"type":"conn","op":"ls"`, `"nonsense":1`,
	}
	var wg sync.WaitGroup
	for n := range uint64(12) {
		wg.Go(func() {
			dice := rand.New(rand.NewPCG(seed, n))
			for range 3 {
				c := r.dial([]string{r.bot, r.human}[n%2], fmt.Sprint("client", n/3))
				hammerOne(t, c, dice, bodies)
			}
		})
	}
	wg.Go(func() {
		for range 20 {
			pass(7 * time.Millisecond)
			r.core.Notice(MachineAgent, hw.Notice{Kind: hw.NoticeLost})
			r.core.Stop("hammer", "")
		}
	})
	if seed%2 == 0 {
		pass(300 * time.Millisecond)
		check(t, r.close())
	}
	wg.Wait()
	check(t, r.close())
	r.wantLevel("closed", "LED", 0)
}

// hammerOne sends requests, mostly in a hurry, and leaves. An id is used once by each connection, so each has one answer.
func hammerOne(t *testing.T, c *client, dice *rand.Rand, bodies []string) {
	const requests = 40
	base := dice.IntN(1 << 30)
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := range requests {
			body := bodies[dice.IntN(len(bodies))]
			body = strings.ReplaceAll(body, "%d", fmt.Sprint(dice.IntN(20)))
			if c.conn.Write(context.Background(), fmt.Appendf(nil, `{"id":"%d",%s}`, base+i, body)) != nil {
				return // the terminal has closed
			}
			if dice.IntN(4) == 0 {
				pass(time.Millisecond)
			}
		}
	})
	answered := map[string]int{}
	for len(answered) < requests {
		m, err := c.conn.Read(context.Background())
		if err != nil {
			break
		}
		a, err := wire.DecodeAnswer(m)
		if err != nil {
			t.Errorf("answer %s: %v", m, err)
			continue
		}
		switch a.(type) {
		case *protocol.Event, *protocol.Output:
			continue
		}
		if id := a.Head().ID; id != nil {
			if answered[*id]++; answered[*id] > 1 {
				t.Errorf("second answer for an id: %s", m)
			}
		}
	}
	writer.Wait()
	check(t, c.conn.Close("done"))
	<-c.ended
}
