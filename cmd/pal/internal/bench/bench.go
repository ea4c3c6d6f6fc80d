// Package bench measures a terminal from outside, over the protocol, and can measure the unguarded comparison server
// (test/peer) with the same client in the same minutes.
//
// # Model
//
// A [Row] is one figure with its unit, what it should reach, and the peer's figure where there is one. Figures are medians or
// percentiles over many tries, and ratios are taken between runs that alternate: single absolute times on a shared machine
// mean little. bench changes outputs 5 and 11 of the bench-sim board (an LED and the buzzer) and presses the e-stop, which
// it clears again: it is not for a terminal with hardware that minds.
package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/pal-terminal/pal/client"
)

// Row is one figure.
type Row struct {
	Name  string   `json:"name"`
	Value float64  `json:"value"`
	Unit  string   `json:"unit"`
	Goal  string   `json:"goal"`
	Peer  *float64 `json:"peer,omitempty"`
	Ratio *float64 `json:"ratio,omitempty"` // Value to Peer; below 1 is faster for times, above 1 for rates
}

// Runner runs code and says how long the round trip took. Both servers are measured through it.
type Runner interface {
	Run(ctx context.Context, code string) (time.Duration, error)
}

// Options of a run.
type Options struct {
	Client *client.Client
	Wire   Runner // the same terminal, through the client that also measures the peer
	Peer   Runner // nil without a comparison
	Rows   string // folder of Python programs to time, empty for none
	Execs  int    // round trips measured
	Repeat int    // runs of each program
	Note   func(string)
}

// Measure runs every row and returns what was measured, also when a later row failed.
func Measure(ctx context.Context, o Options) ([]Row, error) {
	var rows []Row
	var errs error
	for _, step := range []struct {
		what string
		run  func(context.Context, Options) ([]Row, error)
	}{
		{"exec round trips", execs}, {"pin toggles", toggles}, {"reads", reads}, {"frames", frames}, {"Python", python}, {"garbage", garbage},
		{"interrupts", interrupts}, {"machine replacement", replacement}, {"e-stop", estop}, {"memory", memory},
	} {
		o.Note(step.what)
		got, err := step.run(ctx, o)
		rows = append(rows, got...)
		if err != nil {
			errs = errors.Join(errs, fmt.Errorf("%s: %w", step.what, err))
		}
	}
	return rows, errs
}

// percentile returns the p-th part of times, which it sorts.
func percentile(times []time.Duration, p float64) time.Duration {
	slices.Sort(times)
	return times[min(len(times)-1, int(p*float64(len(times))))]
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
func millis(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// row makes a figure, with the peer's and their ratio when there is one.
func row(name, unit, goal string, value float64, peer ...float64) Row {
	r := Row{Name: name, Value: value, Unit: unit, Goal: goal}
	if len(peer) == 1 && peer[0] > 0 {
		ratio := value / peer[0]
		r.Peer, r.Ratio = &peer[0], &ratio
	}
	return r
}

// pairs times two runners in turn, in blocks, so that both see the same machine.
func pairs(ctx context.Context, o Options, code func() string, blocks, each int) (ours, theirs []time.Duration, err error) {
	for range blocks {
		for _, side := range []struct {
			r    Runner
			into *[]time.Duration
		}{{o.Wire, &ours}, {o.Peer, &theirs}} {
			if side.r == nil {
				continue
			}
			for range each {
				took, err := side.r.Run(ctx, code())
				if err != nil {
					return nil, nil, err
				}
				*side.into = append(*side.into, took)
			}
		}
	}
	return ours, theirs, nil
}

// execs measures two programs: one that comes again, as when an agent polls, which the machine need not compile again, and one
// that is new each time.
func execs(ctx context.Context, o Options) ([]Row, error) {
	again := func() string { return "x=1" }
	n := 0
	fresh := func() string { n++; return fmt.Sprintf("x=%d", n) }
	var rows []Row
	for _, kind := range []struct {
		name string
		code func() string
	}{{"exec x=1 round trip", again}, {"exec of new code (x=1, x=2, …)", fresh}} {
		if _, _, err := pairs(ctx, o, kind.code, 1, max(1, o.Execs/10)); err != nil { // warm both up
			return rows, err
		}
		ours, theirs, err := pairs(ctx, o, kind.code, 10, max(1, o.Execs/10))
		if err != nil {
			return rows, err
		}
		for _, p := range []struct {
			name string
			part float64
		}{{"p50", 0.5}, {"p99", 0.99}} {
			var peer []float64
			if len(theirs) > 0 {
				peer = []float64{micros(percentile(theirs, p.part))}
			}
			rows = append(rows, row(kind.name+", "+p.name, "µs", "≤ peer", micros(percentile(ours, p.part)), peer...))
		}
	}
	return rows, nil
}

// rate times a loop of n turns of which each does ops operations, and returns operations a second.
func rate(ctx context.Context, o Options, code string, operations int) (ours float64, theirs []float64, err error) {
	us, them, err := pairs(ctx, o, func() string { return code }, o.Repeat, 1)
	if err != nil {
		return 0, nil, err
	}
	if len(them) > 0 {
		theirs = []float64{float64(operations) / percentile(them, 0.5).Seconds()}
	}
	return float64(operations) / percentile(us, 0.5).Seconds(), theirs, nil
}

const turns = 10_000

func toggles(ctx context.Context, o Options) ([]Row, error) {
	code := fmt.Sprintf("from machine import Pin\np = Pin(5, Pin.OUT)\nfor _ in range(%d):\n    p.on(); p.off()\n", turns)
	ours, theirs, err := rate(ctx, o, code, 2*turns)
	if err != nil {
		return nil, err
	}
	o.Peer = nil
	code = fmt.Sprintf("from machine import Pin\np = Pin('RELAY_1', Pin.OUT)\nfor _ in range(%d):\n    p.off()\n", turns)
	ruled, _, err := rate(ctx, o, code, turns)
	return []Row{
		row("pin writes, output without rules", "1/s", "≥ 200,000", ours, theirs...),
		row("pin writes, output with rules", "1/s", "≥ 20,000", ruled),
	}, err
}

func reads(ctx context.Context, o Options) ([]Row, error) {
	o.Peer = nil
	code := fmt.Sprintf("from machine import Pin\np = Pin(21, Pin.IN)\nfor _ in range(%d):\n    p.value()\n", turns)
	perSecond, _, err := rate(ctx, o, code, turns)
	if err != nil {
		return nil, err
	}
	return []Row{row("pin read p.value()", "µs", "≤ 5 (30 on one core)", 1e6/perSecond)}, nil
}

// frames moves pictures of 1 KiB from a flash chip on SPI to a display on I2C, as examples/video does. The simulated bench has both.
func frames(ctx context.Context, o Options) ([]Row, error) {
	o.Peer = nil
	const count = 2000
	code := fmt.Sprintf(`from machine import I2C, Pin, SPI
spi = SPI(1, baudrate=40000000)
i2c = I2C(0, freq=1000000)
cs = Pin(38, Pin.OUT, value=1)
packet = bytearray(1025)
packet[0] = 0x40
pixels = memoryview(packet)[1:]
cs(0)
spi.write(b"\x03\x00\x00\x00")
for _ in range(%d):
    spi.readinto(pixels)
    i2c.writeto(0x3C, packet)
cs(1)
`, count)
	perSecond, _, err := rate(ctx, o, code, count)
	if err != nil {
		return nil, err
	}
	return []Row{row("video frames, flash to display, flat out", "1/s", "≥ 250", perSecond)}, nil
}

func python(ctx context.Context, o Options) ([]Row, error) {
	if o.Rows == "" {
		return nil, nil
	}
	files, err := filepath.Glob(filepath.Join(o.Rows, "*.py"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no programs in %s (%w)", o.Rows, err)
	}
	sort.Strings(files)
	var rows []Row
	product, n := 1.0, 0
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			return rows, err
		}
		ours, theirs, err := pairs(ctx, o, func() string { return string(src) }, o.Repeat, 1)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", file, err)
		}
		var peer []float64
		if len(theirs) > 0 {
			peer = []float64{millis(percentile(theirs, 0.5))}
		}
		r := row("python "+strings.TrimSuffix(filepath.Base(file), ".py"), "ms", "≤ 1.5 × V8", millis(percentile(ours, 0.5)), peer...)
		rows = append(rows, r)
		if r.Ratio != nil {
			product, n = product**r.Ratio, n+1
		}
	}
	if n > 0 {
		rows = append(rows, row("python, geometric mean of the ratios", "×", "≤ 1.0 × V8", root(product, n)))
	}
	return rows, nil
}
