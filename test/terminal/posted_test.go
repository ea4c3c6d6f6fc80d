//go:build unix

package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pal-terminal/pal/limits"
)

// flooding keeps an output switching as fast as a program can, until it is refused: what began before a release of the e-stop drives
// nothing after it.
const flooding = "p = Pin('LED', Pin.OUT)\\nwhile True: p.on(); p.off()"

// flood runs such a program on a connection of its own until the test ends.
func flood(t testing.TB, x *Terminal) {
	t.Helper()
	conn := x.Pipe(x.Agent)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for t.Context().Err() == nil {
			if conn.Write(t.Context(), []byte(`{"type":"exec","code":"`+flooding+`"}`)) != nil {
				return
			}
			if _, err := conn.Read(t.Context()); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { <-done })
}

// switching waits until the LED was driven after a time.
func switching(t testing.TB, x *Terminal, after time.Time) {
	t.Helper()
	tick := time.NewTicker(50 * time.Microsecond)
	defer tick.Stop()
	for late := time.Now().Add(20 * time.Second); time.Now().Before(late); <-tick.C {
		for _, s := range x.Table.Snapshot() {
			if s.Name == "LED" && s.Since.After(after) {
				return
			}
		}
	}
	t.Fatal("the program does not switch the LED")
}

// stops sets and clears the e-stop while a program posts writes flat out, and returns what each stop took until all was safe.
func stops(t testing.TB, x *Terminal, more func() bool) []time.Duration {
	t.Helper()
	var took []time.Duration
	for began := time.Now(); more(); began = time.Now() {
		switching(t, x, began)
		began = time.Now()
		if err := x.Table.Stop("test"); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(began))
		safe := time.Now()
		for _, s := range x.Table.Snapshot() {
			if s.On || s.Since.After(safe) {
				t.Fatalf("%s after the stop: on %v, changed %v later", s.Name, s.On, s.Since.Sub(safe))
			}
		}
		if err := x.Table.Clear(); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(took)
	return took
}

// A stop comes through a flood of posted writes, nothing is driven behind it, and the next program goes on after the release.
func TestStopWhilePosting(t *testing.T) {
	x := Start(t, nil)
	flood(t, x)
	left := 200
	took := stops(t, x, func() bool { left--; return left >= 0 })
	if worst := took[len(took)-1]; worst > 10*limits.DriveTimeout { // loose: the machine that tests run on may be busy
		t.Errorf("a stop took %v, want at most %v", worst, 10*limits.DriveTimeout)
	}
	t.Logf("stops took %v at the median, %v at most", took[len(took)/2], took[len(took)-1])
}

func BenchmarkStopWhilePosting(b *testing.B) {
	x := Start(b, nil)
	flood(b, x)
	took := stops(b, x, b.Loop)
	at := func(q float64) float64 { return float64(took[int(q*float64(len(took)-1))].Nanoseconds()) / 1e3 }
	b.ReportMetric(at(0.5), "µs-p50")
	b.ReportMetric(at(0.999), "µs-p99.9")
	b.ReportMetric(at(1), "µs-max")
}

// The deadline of a program that posts flat out is heard within its grace: its names survive.
func TestDeadlineWhilePosting(t *testing.T) {
	x := Start(t, nil)
	conn := x.Pipe(x.Agent)
	for range 5 {
		message := fmt.Sprintf(`{"type":"exec","timeout_ms":100,"code":"%s"}`, flooding)
		if err := conn.Write(t.Context(), []byte(message)); err != nil {
			t.Fatal(err)
		}
		answer, err := conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var r struct {
			Code      string `json:"code"`
			Rung      int    `json:"rung"`
			Restarted bool   `json:"vm_restarted"`
			TimeMS    int    `json:"exec_time_ms"`
		}
		if err := json.NewDecoder(bytes.NewReader(answer)).Decode(&r); err != nil {
			t.Fatal(err)
		}
		if r.Code != "deadline" || r.Rung != 1 || r.Restarted {
			t.Errorf("got %s, want a deadline at rung 1 and the same machine", answer)
		}
		t.Logf("ended %d ms after its start", r.TimeMS)
	}
}
