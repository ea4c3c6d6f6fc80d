package bench

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/pal-terminal/pal/protocol"
)

func root(product float64, n int) float64 { return math.Pow(product, 1/float64(n)) }

// garbage lets one exec allocate and drop a gigabyte, and looks at the machine's memory before and after.
func garbage(ctx context.Context, o Options) ([]Row, error) {
	const code = "for _ in range(10000):\n    b = bytearray(100000)\n"
	// What earlier rows left in the heap must not be measured: each collection would look at it again.
	if err := o.Client.Reset(ctx, ""); err != nil {
		return nil, err
	}
	if _, err := o.Wire.Run(ctx, "b = None"); err != nil { // the new machine is set up
		return nil, err
	}
	before, err := machineBytes(ctx, o)
	if err != nil {
		return nil, err
	}
	took, err := o.Wire.Run(ctx, code)
	if err != nil {
		return nil, err
	}
	after, err := machineBytes(ctx, o)
	return []Row{
		row("1 GB of garbage in one exec", "s", "completes", took.Seconds()),
		row("machine memory grown by it", "MB", "flat", float64(after-before)/1e6),
	}, err
}

func machineBytes(ctx context.Context, o Options) (int64, error) {
	s, err := o.Client.Status(ctx)
	if err != nil {
		return 0, err
	}
	for _, m := range s.Machines {
		if m.Label == "agent" {
			return m.RSSBytes, nil
		}
	}
	return 0, fmt.Errorf("status names no machine for agents")
}

// interrupts measures how long after its deadline a loop has ended.
func interrupts(ctx context.Context, o Options) ([]Row, error) {
	const deadline = 50 * time.Millisecond
	var late []time.Duration
	for range max(20, o.Execs/50) {
		start := time.Now()
		r, err := o.Client.Exec(ctx, protocol.Exec{Code: "while True: pass", TimeoutMS: new(deadline.Milliseconds())})
		if err != nil {
			return nil, err
		}
		if r.Code != protocol.CodeDeadline || r.Rung != 1 {
			return nil, fmt.Errorf("endless loop: got code %s rung %d, want deadline at rung 1", r.Code, r.Rung)
		}
		late = append(late, time.Since(start)-deadline)
	}
	return []Row{
		row("soft interrupt after the deadline, p50", "ms", "", millis(percentile(late, 0.5))),
		row("soft interrupt after the deadline, p99", "ms", "≤ 10", millis(percentile(late, 0.99))),
	}, nil
}

// replacement lets loops that swallow the interrupt be killed and asks the terminal how long the next machine took, and
// measures until the next exec is answered.
func replacement(ctx context.Context, o Options) ([]Row, error) {
	const deaf = "while True:\n    try:\n        while True: pass\n    except BaseException: pass\n"
	var took []time.Duration
	for range max(5, o.Repeat) {
		r, err := o.Client.Exec(ctx, protocol.Exec{Code: deaf, TimeoutMS: new(int64(20))})
		if err != nil {
			return nil, err
		}
		if !r.VMRestarted {
			return nil, fmt.Errorf("deaf loop: got rung %d, want the machine killed", r.Rung)
		}
		if _, err := o.Wire.Run(ctx, "x=1"); err != nil {
			return nil, err
		}
		s, err := o.Client.Status(ctx)
		if err != nil {
			return nil, err
		}
		for _, m := range s.Machines {
			if m.Label == "agent" {
				took = append(took, time.Duration(m.ReplacedUS)*time.Microsecond)
			}
		}
		// Give the next standby time to boot: what is measured is a replacement that has one.
		if err := settle(ctx, time.Second); err != nil {
			return nil, err
		}
	}
	return []Row{row("machine replaced from the standby, median", "ms", "≤ 5", millis(percentile(took, 0.5)))}, nil
}

func settle(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// estop measures from sending stop to its answer, which comes when every output is safe, while a program spins.
func estop(ctx context.Context, o Options) ([]Row, error) {
	spin, end := context.WithCancel(ctx)
	spun := make(chan struct{})
	go func() {
		defer close(spun)
		for spin.Err() == nil {
			// It ends by its deadline or with the measurement; how is of no interest.
			_, _ = o.Client.Exec(spin, protocol.Exec{Code: "while True: pass", TimeoutMS: new(int64(5_000))})
		}
	}()
	defer func() { end(); <-spun }()
	var took []time.Duration
	for range max(20, o.Execs/5) {
		start := time.Now()
		if err := o.Client.Stop(ctx, "bench"); err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
		if err := o.Client.EstopClear(ctx, "bench"); err != nil {
			return nil, err
		}
	}
	return []Row{
		row("e-stop over the network, machine spinning, p50", "ms", "", millis(percentile(took, 0.5))),
		row("e-stop over the network, machine spinning, p99.9", "ms", "≤ 5", millis(percentile(took, 0.999))),
		row("e-stop over the network, machine spinning, maximum", "ms", "", millis(percentile(took, 1))),
	}, nil
}

func memory(ctx context.Context, o Options) ([]Row, error) {
	s, err := o.Client.Status(ctx)
	if err != nil {
		return nil, err
	}
	rows := []Row{row("memory of the guard", "MB", "≤ 40", float64(s.RSSBytes)/1e6)}
	for _, m := range s.Machines {
		rows = append(rows, row("memory of machine "+m.Label, "MB", "≤ 60", float64(m.RSSBytes)/1e6))
	}
	return rows, nil
}
