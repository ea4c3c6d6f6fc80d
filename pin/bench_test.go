package pin

import (
	"slices"
	"testing"
	"time"

	"github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/board/sim"
)

// benchTable is a table on bench-sim; a hook makes the driver one that may wait, behind workers.
func benchTable(b *testing.B, hook func(string, int) error) *Table {
	b.Helper()
	d, err := load.Builtin("bench-sim")
	if err != nil {
		b.Fatal(err)
	}
	drv, err := sim.New(d, sim.Options{Hook: hook})
	if err != nil {
		b.Fatal(err)
	}
	t, err := New(d, drv, Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := t.Close(); err != nil {
			b.Error(err)
		}
	})
	return t
}

func noWait(string, int) error { return nil }

func benchWrite(b *testing.B, name string, hook func(string, int) error) {
	t := benchTable(b, hook)
	h, err := t.Resolve(name)
	if err != nil {
		b.Fatal(err)
	}
	c := Caller{Name: "bench", Drive: true}
	level := 0
	for b.Loop() {
		level ^= 1
		if _, err := t.Write(c, h, level); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWrite(b *testing.B)          { benchWrite(b, "LED", nil) }
func BenchmarkWriteInterlock(b *testing.B) { benchWrite(b, "RELAY_1", nil) }
func BenchmarkWriteWorker(b *testing.B)    { benchWrite(b, "LED", noWait) }

func BenchmarkRead(b *testing.B) {
	t := benchTable(b, nil)
	h, err := t.Resolve("BUTTON")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := t.Read(Caller{}, h); err != nil {
			b.Fatal(err)
		}
	}
}

// benchStop measures from the call of Stop to its return, when all outputs are safe, with four of them on before. It reports
// quantiles, since the worst case is what an e-stop is for.
func benchStop(b *testing.B, hook func(string, int) error) {
	t := benchTable(b, hook)
	c := Caller{Name: "bench", Drive: true}
	var took []time.Duration
	for b.Loop() {
		for _, name := range []string{"LED", "RELAY_1", "RELAY_POWER", "STEPPER_4"} {
			h, err := t.Resolve(name)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := t.Write(c, h, 1); err != nil {
				b.Fatal(err)
			}
		}
		start := time.Now()
		t.Stop("bench")
		took = append(took, time.Since(start))
		if err := t.Clear(); err != nil {
			b.Fatal(err)
		}
	}
	slices.Sort(took)
	at := func(q float64) float64 { return float64(took[int(q*float64(len(took)-1))].Nanoseconds()) / 1e3 }
	b.ReportMetric(at(0.5), "µs-p50")
	b.ReportMetric(at(0.999), "µs-p99.9")
	b.ReportMetric(at(1), "µs-max")
}

func BenchmarkStop(b *testing.B)       { benchStop(b, nil) }
func BenchmarkStopWorker(b *testing.B) { benchStop(b, noWait) }
