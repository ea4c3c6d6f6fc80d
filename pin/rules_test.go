package pin

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

const rulesBoard = `board: rules
pins:
  - {id: 1, name: TEMP, owner: guard, can: [adc], scale: "raw / 10", unit: degC}
  - {id: 2, name: DOOR, owner: guard, can: [in], pull: up}
  - {id: 3, name: KEY, owner: agent, can: [in], pull: up}
  - {id: 10, name: TIMED, owner: agent, can: [in, out], safe: low, max_on: 2s}
  - {id: 11, name: SLOW, owner: agent, can: [out], safe: low, min_off: 3s}
  - {id: 12, name: RATED, owner: agent, can: [in, out], safe: low, max_rate: 4/s}
  - {id: 13, name: LEFT, owner: agent, can: [out], safe: low, interlock: [RIGHT]}
  - {id: 14, name: RIGHT, owner: agent, can: [out], safe: low}
  - {id: 15, name: PUMP, owner: agent, can: [out], safe: low, requires: DOOR}
  - {id: 16, name: HEAT, owner: agent, can: [out], safe: low, trip: {adc: TEMP, above: 80, for_ms: 50}}
  - {id: 17, name: COOL, owner: agent, can: [out], safe: low, trip: {adc: TEMP, below: 5}}
  - {id: 18, name: LOWON, owner: agent, can: [out], safe: high, max_on: 1s, interlock: [PLAIN]}
  - {id: 19, name: PLAIN, owner: agent, can: [out], safe: low, on_disconnect: safe}
devices:
  - {type: adc, pin: TEMP, value: 200}
`

// inBubble runs a test on rulesBoard where time passes only when everything waits, with and without workers.
func inBubble(t *testing.T, run func(t *testing.T, r *rig)) {
	t.Helper()
	inBubbleOn(t, rulesBoard, run)
}

func inBubbleOn(t *testing.T, src string, run func(t *testing.T, r *rig)) {
	t.Helper()
	for name, hook := range map[string]func(string, int) error{"direct": nil, "workers": noWait} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, src, hook)
				defer r.end()
				run(t, r)
			})
		})
	}
}

// pass lets d go by and everything that is due happen.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // in a bubble: simulated time
	synctest.Wait()
}

// tryOn drives name on and returns the refusal, nil when it went on.
func (r *rig) tryOn(name string) error {
	_, err := r.Write(agent, r.h(name), 1-r.d.Pins[r.h(name)].Safe)
	return err
}

func TestMaxOn(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.set("TIMED", 1)
		pass(1900 * time.Millisecond)
		r.set("TIMED", 1) // asking again buys no time
		if got := r.line("TIMED"); got != 1 {
			t.Errorf("before its time: got %d", got)
		}
		pass(100 * time.Millisecond)
		if got := r.line("TIMED"); got != 0 {
			t.Errorf("after its time: got %d", got)
		}
		if got, want := r.kinds(), []string{"output_safe TIMED max_on"}; !cmp.Equal(got, want) {
			t.Errorf("events: got %v want %v", got, want)
		}
		r.set("TIMED", 1)
		pass(1500 * time.Millisecond)
		r.set("TIMED", 0)
		r.set("TIMED", 1)
		pass(1500 * time.Millisecond) // the first time on would have ended
		if got := r.line("TIMED"); got != 1 {
			t.Errorf("switched on anew: got %d", got)
		}
		pass(500 * time.Millisecond)
		if got := r.line("TIMED"); got != 0 {
			t.Errorf("after its second time: got %d", got)
		}
		r.set("TIMED", 1)
		pass(time.Second)
		r.alarmed(r.pins[r.h("TIMED")]) // a timer of an earlier time on that fires late
		if got := r.line("TIMED"); got != 1 {
			t.Errorf("after a stale timer: got %d", got)
		}
		r.set("LOWON", 0)
		pass(time.Second)
		if got := r.line("LOWON"); got != 1 {
			t.Errorf("an output that is on when low: got %d", got)
		}
	})
}

func TestMinOff(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		refused(t, r.tryOn("SLOW"), RuleMinOff) // when it was on before the start is unknown
		pass(3 * time.Second)
		r.set("SLOW", 1)
		r.set("SLOW", 0)
		r.set("SLOW", 0) // off is never refused and starts no new time
		pass(2999 * time.Millisecond)
		if got := refused(t, r.tryOn("SLOW"), RuleMinOff); got.Code != "conflict" || got.Errno != 13 {
			t.Errorf("got %+v", got)
		}
		r.set("SLOW", 0)
		pass(time.Millisecond)
		r.set("SLOW", 1)
		r.Stop("test")
		if err := r.Clear(); err != nil {
			t.Fatal(err)
		}
		refused(t, r.tryOn("SLOW"), RuleMinOff) // an e-stop switches off as well
	})
}

func TestMaxRate(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		for range 2 {
			r.set("RATED", 1)
			r.set("RATED", 0)
		}
		refused(t, r.tryOn("RATED"), RuleMaxRate)
		pass(999 * time.Millisecond)
		refused(t, r.tryOn("RATED"), RuleMaxRate)
		pass(time.Millisecond)
		r.set("RATED", 1)
		for range 20 {
			r.set("RATED", 1) // no change, so it does not count
		}
		r.set("RATED", 0)
		r.set("RATED", 1)
		r.set("RATED", 0)
		refused(t, r.tryOn("RATED"), RuleMaxRate)
		pass(time.Second)
		// The way around through an input is counted too.
		changes := 0
		for range 10 {
			if _, err := r.Configure(agent, r.h("RATED"), hw.ModeOut, 0, 1); err != nil {
				refused(t, err, RuleMaxRate)
				break
			}
			if _, err := r.Configure(agent, r.h("RATED"), hw.ModeIn, 0, -1); err != nil {
				t.Fatal(err)
			}
			changes++
		}
		if changes > 2 {
			t.Errorf("through input mode: got %d times on in no time, want 2 at most", changes)
		}
	})
}

func TestInterlock(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.set("LEFT", 1)
		got := refused(t, r.tryOn("RIGHT"), RuleInterlock)
		if got.Holder != "LEFT" || got.Code != "conflict" {
			t.Errorf("got %+v", got)
		}
		_, err := r.Configure(agent, r.h("RIGHT"), hw.ModeOut, 0, 1)
		refused(t, err, RuleInterlock)
		_, err = r.Toggle(agent, r.h("RIGHT"))
		refused(t, err, RuleInterlock)
		r.set("RIGHT", 0)
		r.set("LEFT", 0)
		r.set("RIGHT", 1)
		refused(t, r.tryOn("LEFT"), RuleInterlock)
		r.set("LOWON", 0) // on is low here
		refused(t, r.tryOn("PLAIN"), RuleInterlock)
		r.set("LOWON", 1)
		r.set("PLAIN", 1)
		refused(t, r.tryOn("LOWON"), RuleInterlock)
	})
}

func TestRequires(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.set("PUMP", 1)
		r.world("set", "DOOR", "0")
		pass(limits.TripSampling)
		if got := r.line("PUMP"); got != 0 {
			t.Errorf("with the door open: got %d", got)
		}
		if got, want := r.kinds(), []string{"output_safe PUMP requires"}; !cmp.Equal(got, want) {
			t.Errorf("events: got %v want %v", got, want)
		}
		if got := refused(t, r.tryOn("PUMP"), RuleRequires); got.Code != "conflict" {
			t.Errorf("got %+v", got)
		}
		_, err := r.Configure(agent, r.h("PUMP"), hw.ModeOut, 0, 1)
		refused(t, err, RuleRequires)
		_, err = r.Toggle(agent, r.h("PUMP"))
		refused(t, err, RuleRequires)
		r.set("PUMP", 0)
		refused(t, r.Clear(), RuleRequires)
		r.world("set", "DOOR", "1")
		pass(limits.TripSampling)
		if got := r.line("PUMP"); got != 0 {
			t.Error("closing the door switched the pump on")
		}
		r.set("PUMP", 1)
	})
}

func TestTrip(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.set("HEAT", 1)
		r.world("set", "TEMP", "801") // 80.1, for less than 50 ms
		pass(40 * time.Millisecond)
		r.world("set", "TEMP", "800")
		pass(40 * time.Millisecond)
		r.world("set", "TEMP", "801")
		pass(45 * time.Millisecond)
		if got := r.line("HEAT"); got != 1 {
			t.Errorf("past the threshold too short: got %d", got)
		}
		pass(20 * time.Millisecond)
		if got := r.line("HEAT"); got != 0 {
			t.Errorf("past the threshold long enough: got %d", got)
		}
		got := r.kinds()
		slices.Sort(got) // behind a worker, the drive ends after the trip was reported
		if want := []string{"output_safe HEAT trip", "trip HEAT trip"}; !cmp.Equal(got, want) {
			t.Errorf("events: got %v want %v", got, want)
		}
		refused(t, r.Clear(), RuleTrip) // the condition stands
		r.world("set", "TEMP", "200")
		pass(time.Second)
		if got := refused(t, r.tryOn("HEAT"), RuleTrip); got.Code != "conflict" {
			t.Errorf("a trip stays until it is cleared: got %+v", got)
		}
		r.set("HEAT", 0)
		if err := r.Clear(); err != nil {
			t.Fatal(err)
		}
		r.set("HEAT", 1)
		r.world("set", "TEMP", "49") // COOL trips at the first sample, and also while it is off
		pass(limits.TripSampling)
		refused(t, r.tryOn("COOL"), RuleTrip)
		if got := r.line("HEAT"); got != 1 {
			t.Error("the trip of one output switched another")
		}
	})
}

func TestTripThatStandsAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "board: x\npins:\n  - {id: 1, name: TEMP, owner: guard, can: [adc]}\n"+
			"  - {id: 2, name: HEAT, owner: agent, can: [out], safe: low, trip: {adc: TEMP, below: 10}}\n"+
			"devices:\n  - {type: adc, pin: TEMP, value: 5}\n", nil)
		defer r.end()
		refused(t, r.tryOn("HEAT"), RuleTrip)
	})
}

func TestSafeMatches(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		other := Caller{Name: "other", Drive: true, Run: 2, Machine: "tasks", Conn: 8}
		r.set("TIMED", 1)
		r.set("PLAIN", 1)
		r.set("HEAT", 1)
		if _, err := r.Write(other, r.h("LEFT"), 1); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Write(other, r.h("HEAT"), 1); err != nil { // now the other's
			t.Fatal(err)
		}
		names := func(list []Effect) (names []string) {
			for _, e := range list {
				if e.To != r.d.Pins[e.Handle].Safe || e.From == e.To || e.Cause == "" {
					t.Errorf("got effect %+v", e)
				}
				names = append(names, e.Name)
			}
			return names
		}
		got := names(r.Safe("disconnect", func(d Driven) bool { return d.OnDisconnectSafe && d.Caller.Conn == 7 }))
		if want := []string{"PLAIN"}; !cmp.Equal(got, want) {
			t.Errorf("disconnect of 7: got %v want %v", got, want)
		}
		got = names(r.Safe("exec_ended", func(d Driven) bool { return d.Caller.Run == 1 }))
		if want := []string{"TIMED"}; !cmp.Equal(got, want) {
			t.Errorf("end of run 1: got %v want %v", got, want)
		}
		got = names(r.Safe("vm_lost", func(d Driven) bool { return d.Caller.Machine == "tasks" }))
		if want := []string{"LEFT", "HEAT"}; !cmp.Equal(got, want) {
			t.Errorf("loss of the machine: got %v want %v", got, want)
		}
		if got := r.Safe("again", func(Driven) bool { return true }); len(got) != 0 {
			t.Errorf("with all safe: got %v", got)
		}
	})
}

func TestWatch(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var all, rising []hw.Edge
		cancelAll, err := r.Watch(reader, r.h("KEY"), hw.EdgeRising|hw.EdgeFalling, func(e hw.Edge) { all = append(all, e) })
		if err != nil {
			t.Fatal(err)
		}
		cancelRising, err := r.Watch(reader, r.h("KEY"), hw.EdgeRising, func(e hw.Edge) { rising = append(rising, e) })
		if err != nil {
			t.Fatal(err)
		}
		for _, level := range []string{"0", "1", "0"} {
			pass(time.Millisecond)
			r.world("set", "KEY", level)
		}
		key := uint16(r.h("KEY"))
		want := []hw.Edge{{Pin: key, AtUS: 1000}, {Pin: key, Rose: true, AtUS: 2000}, {Pin: key, AtUS: 3000}}
		if diff := cmp.Diff(want, all); diff != "" {
			t.Errorf("edges (-want +got):\n%s", diff)
		}
		if !cmp.Equal(rising, want[1:2]) {
			t.Errorf("rising edges: got %v want %v", rising, want[1:2])
		}
		// One event an edge, however many watch it.
		if got, want := r.kinds(), []string{"pin_change KEY", "pin_change KEY", "pin_change KEY"}; !cmp.Equal(got, want) {
			t.Errorf("events: got %v want %v", got, want)
		}
		cancelAll()
		cancelAll()
		r.world("set", "KEY", "1")
		r.world("set", "KEY", "0")
		cancelRising()
		r.world("set", "KEY", "1")
		if len(all) != 3 || len(rising) != 2 {
			t.Errorf("after cancel: got %d and %d edges want 3 and 2", len(all), len(rising))
		}
		if got, want := r.kinds(), []string{"pin_change KEY"}; !cmp.Equal(got, want) {
			t.Errorf("events that nobody wants: got %v want %v", got, want)
		}
	})
}

// A fast line does not flood the events, and comes back to them.
func TestEdgeEventsAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		edges := 0
		cancel, err := r.Watch(reader, r.h("KEY"), hw.EdgeRising|hw.EdgeFalling, func(hw.Edge) { edges++ })
		if err != nil {
			t.Fatal(err)
		}
		defer cancel()
		for range 500 {
			r.world("set", "KEY", "0")
			r.world("set", "KEY", "1")
		}
		if got := len(r.kinds()); edges != 1000 || got != limits.WatchRate {
			t.Errorf("got %d edges and %d events want 1000 and %d", edges, got, limits.WatchRate)
		}
		pass(time.Second)
		r.world("set", "KEY", "0")
		if got, want := r.kinds(), []string{"pin_change KEY"}; !cmp.Equal(got, want) {
			t.Errorf("a second later: got %v want %v", got, want)
		}
	})
}

func TestWatchersAreBounded(t *testing.T) {
	r := newRig(t, rulesBoard, nil)
	defer r.end()
	var last func()
	for range limits.PinWatchers {
		cancel, err := r.Watch(reader, r.h("KEY"), hw.EdgeRising, func(hw.Edge) {})
		if err != nil {
			t.Fatal(err)
		}
		last = cancel
	}
	_, err := r.Watch(reader, r.h("KEY"), hw.EdgeRising, func(hw.Edge) {})
	refused(t, err, RuleBusy)
	last()
	if _, err := r.Watch(reader, r.h("KEY"), hw.EdgeRising, func(hw.Edge) {}); err != nil {
		t.Errorf("after one was cancelled: got %v", err)
	}
}

func TestSnapshot(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		pass(time.Second)
		r.set("HEAT", 1)
		byName := map[string]State{}
		for _, s := range r.Snapshot() {
			byName[s.Name] = s
		}
		value := 20.0
		wantTemp := State{
			Handle: r.h("TEMP"), ID: "1", Name: "TEMP", Owner: "guard", Can: []string{"adc"}, Level: -1, Value: &value, Unit: "degC",
			Safe: -1, Danger: "low", Since: byName["TEMP"].Since,
		}
		if diff := cmp.Diff(wantTemp, byName["TEMP"]); diff != "" {
			t.Errorf("TEMP (-want +got):\n%s", diff)
		}
		wantHeat := State{
			Handle: r.h("HEAT"), ID: "16", Name: "HEAT", Owner: "agent", Can: []string{"out"}, Mode: hw.ModeOut, Level: 1, Safe: 0,
			On: true, Danger: "low", Rules: []string{"trip TEMP above 80 for 50ms"}, LastDriver: "agent", Since: time.Now(),
		}
		if diff := cmp.Diff(wantHeat, byName["HEAT"]); diff != "" {
			t.Errorf("HEAT (-want +got):\n%s", diff)
		}
	})
}
