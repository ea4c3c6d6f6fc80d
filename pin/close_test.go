package pin

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/board/sim"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

func TestClose(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.set("PLAIN", 1)
		r.set("TIMED", 1)
		cancel, err := r.Watch(reader, r.h("KEY"), hw.EdgeRising, func(hw.Edge) { t.Error("an edge after Close") })
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"PLAIN", "TIMED"} {
			if got := r.line(name); got != 0 {
				t.Errorf("%s after Close: got %d", name, got)
			}
		}
		refused(t, r.tryOn("PLAIN"), RuleClosed)
		r.world("set", "KEY", "0")
		r.world("set", "KEY", "1")
		cancel()
		if _, err := r.Watch(reader, r.h("KEY"), hw.EdgeRising, func(hw.Edge) {}); err == nil {
			t.Error("Watch after Close: got no error")
		}
		pass(time.Minute)
		if err := r.Close(); err != nil {
			t.Errorf("second Close: got %v", err)
		}
	})
}

func TestCloseNamesWhatHangs(t *testing.T) {
	for range 8 { // a worker that chose by chance would pass now and then
		synctest.Test(t, func(t *testing.T) {
			g := &gate{hold: make(chan struct{})}
			r := gated(t, g)
			r.set("PLAIN", 1)
			g.action.Store("get PLAIN")
			go func() { _, _ = r.Read(reader, r.h("PLAIN")) }()
			synctest.Wait()
			start := time.Now()
			err := r.Close()
			if err == nil || !strings.Contains(err.Error(), "PLAIN") {
				t.Errorf("got %v", err)
			}
			if took := time.Since(start); took > 2*limits.DriveTimeout {
				t.Errorf("Close took %s", took)
			}
			g.action.Store("")
			close(g.hold)
			synctest.Wait()
			if got := r.line("PLAIN"); got != 0 {
				t.Errorf("when the driver came back after Close: got %d", got)
			}
		})
	}
}

// watchCounter counts the watches that a driver still serves.
type watchCounter struct {
	*sim.Board
	open atomic.Int32
}

func (w *watchCounter) Watch(pin int, edges hw.Edges, fn func(bool, time.Time)) (func(), error) {
	cancel, err := w.Board.Watch(pin, edges, fn)
	if err == nil {
		w.open.Add(1)
	}
	return func() { w.open.Add(-1); cancel() }, err
}

func TestCloseEndsDriverWatches(t *testing.T) {
	d := builtin(t)
	b, err := sim.New(d, sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &watchCounter{Board: b}
	table, err := New(d, w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := table.Resolve("BUTTON")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := table.Watch(reader, h, hw.EdgeRising, func(hw.Edge) {}); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.open.Load(); got != 1 {
		t.Errorf("three watchers of one pin: got %d watches of the driver want 1", got)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	if got := w.open.Load(); got != 0 {
		t.Errorf("after Close: got %d watches", got)
	}
}
