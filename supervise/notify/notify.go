// Package notify tells whoever supervises the guard that it lives: systemd over its socket, the hardware's watchdog through its
// device.
//
// # Model
//
// A [Feeder] runs its probes in rounds. Only when every [Probe] of a round has passed within limits.WatchdogProbe are the watchdogs
// fed. Each probe runs in a goroutine of its own, and one that has not come back counts as failed until it does, so that a probe that
// hangs for ever stops the feeding and costs one goroutine, not one more each round.
//
// The arithmetic: what is fed at the end of a round vouches for a time at most limits.WatchdogProbe ago, so a guard that hangs is
// ended WatchdogTimeout + WatchdogProbe after that at the latest, and killed WatchdogAbort later if it does not obey: 9 s, below
// limits.GuardWatchdog. A supervisor with more patience is told to have less; with one that has less, rounds come sooner.
//
// # What it refuses
//
// To run without a watchdog that was asked for and cannot be had. The device is disarmed by an orderly end alone: after a crash
// the hardware goes on counting, until a new guard opens it or the machine is reset.
package notify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/pal-terminal/pal/limits"
)

// Probe asks one part of the guard whether it lives. A part that has not been made yet, or has ended in an orderly way, passes.
type Probe struct {
	Name string
	// Check returns nil when the part has done its work since; its ctx ends after limits.WatchdogProbe.
	Check func(ctx context.Context) error
}

// Options say what is fed and why. Only Probes is needed.
type Options struct {
	Systemd *Systemd      // fed when it watches
	Device  string        // path of the hardware's watchdog, empty for none
	Period  time.Duration // between rounds, 0 for limits.WatchdogPeriod; shortened to what the watchdogs need
	Probes  []Probe
	// OnState hears once that a probe, or the feeding of "systemd" or the device, fails, and with nil that it works again.
	// It is called from the feeder's goroutine and must return soon.
	OnState func(name string, err error)
	Log     *slog.Logger // nil discards
}

// dog is a watchdog. arm returns the patience that it has after it was asked for d; 0 when nobody knows.
type dog interface {
	name() string
	arm(d time.Duration) (time.Duration, error)
	feed() error
	close(orderly bool) error
}

// Feeder feeds the watchdogs while the guard lives. Close ends it.
type Feeder struct {
	opts     Options
	dogs     []dog
	period   time.Duration
	deadline time.Duration // of a probe
	probes   []*probing
	failing  map[string]bool
	cancel   context.CancelFunc
	wg       sync.WaitGroup
}

// probing is a probe and its run under way, nil when it has none.
type probing struct {
	Probe
	answer chan error
	since  time.Time
	cancel context.CancelFunc
}

// New opens the watchdogs and begins to feed them. Call it as soon as the outputs are safe: an armed device counts already.
func New(o Options) (*Feeder, error) {
	var dogs []dog
	if o.Systemd.Timeout() > 0 {
		dogs = append(dogs, o.Systemd)
	}
	if o.Device != "" {
		d, err := openDevice(o.Device)
		if err != nil {
			return nil, fmt.Errorf("watchdog %s: %w", o.Device, err)
		}
		dogs = append(dogs, d)
	}
	return start(o, dogs), nil
}

func start(o Options, dogs []dog) *Feeder {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	f := &Feeder{opts: o, dogs: dogs, failing: map[string]bool{}}
	shortest := limits.WatchdogTimeout
	for _, d := range dogs {
		patience, err := d.arm(limits.WatchdogTimeout)
		if err != nil || patience == 0 || patience > limits.WatchdogTimeout {
			o.Log.Warn("a watchdog waits longer than it should", "watchdog", d.name(), "patience", patience, "error", err)
		}
		if patience > 0 {
			shortest = min(shortest, patience)
		}
	}
	f.period, f.deadline = Rhythm(shortest)
	if o.Period > 0 {
		f.period = min(f.period, o.Period)
	}
	for _, p := range o.Probes {
		f.probes = append(f.probes, &probing{Probe: p})
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.cancel = cancel
	f.wg.Go(func() { f.run(ctx) })
	return f
}

// Rhythm is how often watchdogs of a patience are fed, and how long a probe may take: the share that limits has of its own.
func Rhythm(patience time.Duration) (period, deadline time.Duration) {
	part := min(patience, limits.WatchdogTimeout) / (limits.WatchdogTimeout / time.Millisecond)
	return part * (limits.WatchdogPeriod / time.Millisecond), part * (limits.WatchdogProbe / time.Millisecond)
}

// Close ends the feeding. With orderly the device is disarmed; else it goes on counting, as after a crash.
func (f *Feeder) Close(orderly bool) error {
	f.cancel()
	f.wg.Wait()
	var errs []error
	for _, d := range f.dogs {
		errs = append(errs, d.close(orderly))
	}
	return errors.Join(errs...)
}

func (f *Feeder) run(ctx context.Context) {
	tick := time.NewTicker(f.period)
	defer tick.Stop()
	for {
		f.round(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			f.part()
			return
		}
	}
}

// part waits for the probes under way, whose ctx has ended; one that hangs is left to the end of the process.
func (f *Feeder) part() {
	late := time.NewTimer(f.deadline)
	defer late.Stop()
	for _, p := range f.probes {
		if p.answer == nil {
			continue
		}
		p.cancel()
		select {
		case <-p.answer: //nolint:errcheck // an answer that came too late says nothing
		case <-late.C:
			late.Reset(0)
		}
	}
}

// round asks every probe and feeds when all have passed. First it feeds, then it tells.
func (f *Feeder) round(ctx context.Context) {
	late := time.NewTimer(f.deadline)
	defer late.Stop()
	for _, p := range f.probes {
		p.begin(ctx, f.deadline)
	}
	type state struct {
		name string
		err  error
	}
	states, alive, why := make([]state, 0, len(f.probes)+len(f.dogs)), true, "serving"
	for _, p := range f.probes {
		err := p.wait(ctx, late)
		if ctx.Err() != nil {
			return
		}
		if err != nil && alive {
			alive, why = false, p.Name+": "+err.Error()
		}
		states = append(states, state{p.Name, err})
	}
	for _, d := range f.dogs {
		if alive {
			states = append(states, state{d.name(), d.feed()})
		}
	}
	for _, s := range states {
		f.tell(s.name, s.err, alive, why)
	}
}

// tell passes a change of state on, once.
func (f *Feeder) tell(name string, err error, alive bool, why string) {
	if f.failing[name] == (err != nil) {
		return
	}
	f.failing[name] = err != nil
	if err != nil {
		f.opts.Log.Error("watchdog: a part of the guard does not answer", "part", name, "error", err)
	} else {
		f.opts.Log.Info("watchdog: the part answers again", "part", name)
	}
	if !alive {
		why = "not alive: " + why
	}
	if statusErr := f.opts.Systemd.Status(why); statusErr != nil {
		f.opts.Log.Warn("watchdog: the supervisor cannot be told", "error", statusErr)
	}
	if f.opts.OnState != nil {
		f.opts.OnState(name, err)
	}
}

// begin starts the probe, unless it still runs: an answer that came too late was for the round before.
func (p *probing) begin(ctx context.Context, deadline time.Duration) {
	if p.answer != nil {
		select {
		case <-p.answer: //nolint:errcheck // an answer that came too late says nothing
			p.cancel()
		default:
			return
		}
	}
	ctx, p.cancel = context.WithTimeout(ctx, deadline)
	answer := make(chan error, 1)
	p.answer, p.since = answer, time.Now()
	go func() { answer <- p.Check(ctx) }()
}

// wait returns what the probe says, or, when late has come, that it says nothing.
func (p *probing) wait(ctx context.Context, late *time.Timer) error {
	var err error
	select {
	case err = <-p.answer:
	default:
		select {
		case err = <-p.answer:
		case <-late.C:
			late.Reset(0) // for the probes after this one
			return fmt.Errorf("no answer for %v", time.Since(p.since).Round(time.Millisecond))
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	p.cancel()
	p.answer = nil
	return err
}
