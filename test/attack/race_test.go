//go:build unix

package attack

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/core"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/protocol"
)

// Programs and clients fight over interlocked outputs as fast as they can, by every way to switch, while others change modes,
// cut each other and reset the machine.
func TestRaceForInterlock(t *testing.T) {
	r := attack(t, benchBoard(t, "open"), rules{never: []string{"BOOT", "FLOAT", "SECRET", "PUMP"}, apart: [][2]string{{"LEFT", "RIGHT"}}})
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
	defer stop()
	var wg sync.WaitGroup
	var switched atomic.Int64
	for i, name := range []string{"LEFT", "RIGHT", "LEFT", "RIGHT"} {
		c := r.actor(fmt.Sprintf("fighter-%d", i), false, identity.Read, identity.Exec, identity.Actuate)
		wg.Go(func() {
			for level := 0; ctx.Err() == nil; level = 1 - level {
				if res, err := c.PinSet(ctx, name, level); err == nil && !res.Error {
					switched.Add(1)
				}
			}
		})
	}
	timeout := int64(200)
	const code = `
from machine import Pin
import time
l, r = Pin("LEFT"), Pin("RIGHT")
while True:
    for way in (l.on, r.on, l.toggle, r.toggle, lambda: l.init(Pin.OUT, value=1), lambda: r.init(Pin.OUT, value=1), l.off, r.off):
        try: way()
        except OSError: pass
`
	for i := range 2 {
		c := r.actor(fmt.Sprintf("program-%d", i), false, identity.Read, identity.Exec, identity.Actuate)
		wg.Go(func() {
			for ctx.Err() == nil {
				c.Exec(ctx, protocol.Exec{Code: code, TimeoutMS: &timeout}) // the machine is being reset under it
			}
		})
	}
	wg.Go(func() {
		for ctx.Err() == nil {
			r.human.Reset(ctx, "") // the test's end may cut it
		}
	})
	wg.Wait()
	r.witness.attacks += 6
	if switched.Load() < 20 {
		t.Errorf("only %d changes got through: the race did not take place", switched.Load())
	}
	r.works(r.dial(r.Agent), "the race")
}

// From the moment a stop was answered until a person clears it nothing goes on, whatever runs or comes.
func TestStopAgainstTheFastest(t *testing.T) {
	var may atomic.Bool
	may.Store(true)
	held := map[string]func() bool{"LEFT": may.Load, "RIGHT": may.Load, "LAMP": may.Load, "PULSE": may.Load, "SECRET": may.Load}
	r := attack(t, benchBoard(t, "open"), rules{never: []string{"BOOT"}, apart: [][2]string{{"LEFT", "RIGHT"}}, unheard: held})
	if _, err := r.Sim.Sim("set", "FLOAT", "1"); err != nil { // a stop is not cleared while what PUMP requires is missing
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer end()
	agent := r.dial(r.Agent)
	wg.Go(func() {
		for ctx.Err() == nil {
			agent.Exec(ctx, protocol.Exec{Code: "p = Pin('LAMP', Pin.OUT)\nwhile True:\n  try:\n    p.toggle()\n  except BaseException: pass"}) // it is cut at the end
		}
	})
	for _, name := range []string{"LEFT", "RIGHT", "SECRET"} {
		c := r.dial(r.Human)
		wg.Go(func() {
			for level := 0; ctx.Err() == nil; level = 1 - level {
				c.PinSet(ctx, name, level) // refused half of the time
			}
		})
	}
	var slowest time.Duration
	for i := range 50 {
		began := time.Now()
		if err := agent.Stop(t.Context(), "attack"); err != nil {
			t.Fatalf("stop: %v", err)
		}
		slowest = max(slowest, time.Since(began))
		may.Store(false)
		r.witness.attacks++
		for name, level := range r.levels() {
			if held[name] != nil && level != 0 {
				t.Errorf("round %d: %s is on after the stop", i, name)
			}
		}
		if err := agent.EstopClear(t.Context(), "I am no person"); err == nil {
			t.Errorf("an agent cleared the e-stop")
		}
		may.Store(true)
		if err := r.human.EstopClear(t.Context(), "go on"); err != nil {
			t.Fatalf("clear: %v", err)
		}
	}
	t.Logf("slowest stop: %v", slowest)
}

// Whoever opens connections without end does not keep the stop of others out.
func TestStopThroughOneActorsFlood(t *testing.T) {
	r := attack(t, nil, rules{never: systemPins})
	if err := r.human.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer end()
	full := make(chan struct{})
	var once sync.Once
	for range 4 {
		wg.Go(func() { r.flood(ctx, func() { once.Do(func() { close(full) }) }) })
	}
	select {
	case <-full:
	case <-time.After(patience):
		t.Fatal("the flood did not fill the terminal")
	}
	for range 3 {
		r.witness.attacks++
		began := time.Now()
		c := r.dial(r.Human)
		if err := c.Stop(t.Context(), "in the flood"); err != nil {
			t.Errorf("stop: %v", err)
		}
		t.Logf("stop in the flood: %v", time.Since(began))
		c.Close() // the terminal may have ended it
		tick := time.NewTicker(10 * time.Millisecond)
		for r.Core.Admit(peerOf(r.Human)) != nil { // its place is given back a moment later
			<-tick.C
		}
		tick.Stop()
	}
}

// flood dials with the agent's token until ctx ends and keeps what it gets. refused is called at each refusal.
func (r *rig) flood(ctx context.Context, refused func()) {
	var kept []*client.Client
	for ctx.Err() == nil {
		c, err := client.Dial(ctx, client.Target{URL: r.URL, Token: r.Agent})
		if err != nil {
			refused()
			continue
		}
		kept = append(kept, c)
	}
	for _, c := range kept {
		c.Close() // the terminal ended some
	}
}

func peerOf(token string) core.Peer {
	return core.Peer{Transport: "websocket", Remote: "127.0.0.1", Credential: token}
}
