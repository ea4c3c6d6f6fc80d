package pin

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
)

// Snapshot returns the state of every pin in the order of the board file, system pins too. Levels and analogue values are
// read from the hardware; once the driver does not answer, the rest are given as unknown.
func (t *Table) Snapshot() []State {
	list := make([]State, len(t.pins))
	answers := true
	for i, p := range t.pins {
		list[i] = t.state(p)
		if p.b.Owner == board.OwnerSystem || !answers {
			continue
		}
		if p.b.Can.Any(digital) {
			r := &request{verb: verbRead}
			if answers = t.do(p, r) == nil; answers {
				list[i].Level = r.value
			}
		}
		if p.b.Can.Has(board.CapADC) && answers {
			value, err := t.reading(p)
			if answers = err == nil; answers && !math.IsNaN(value) && !math.IsInf(value, 0) {
				list[i].Value = &value
			}
		}
	}
	return list
}

// state returns what the table knows of p without asking the driver.
func (t *Table) state(p *pin) State {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := p.b
	return State{
		Handle: p.h, ID: string(b.ID), Name: b.Name, Owner: b.Owner.String(), Can: b.Can.Words(), Mode: p.mode, Pull: p.pull,
		Level: -1, Unit: b.Unit, Safe: b.Safe, On: p.energised, Freq: p.freq, Duty: p.duty, Danger: b.Danger.String(), Rules: t.rules(b),
		LastDriver: p.caller.Name, Since: p.changed, Tripped: p.tripped, Fault: p.fault, Note: b.Note,
	}
}

// rules returns the rules on an output in words.
func (t *Table) rules(b *board.Pin) []string {
	var list []string
	add := func(there bool, format string, args ...any) {
		if there {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	label := func(i int) string { return t.d.Pins[i].Label() }
	add(b.MaxOn > 0, "max_on %s", b.MaxOn)
	add(b.MinOff > 0, "min_off %s", b.MinOff)
	add(b.MaxRate.N > 0, "max_rate %s", b.MaxRate)
	for _, i := range b.Interlock {
		add(true, "interlock %s", label(i))
	}
	if b.Requires != nil {
		add(true, "requires %s = %d", label(b.Requires.Pin), b.Requires.Level)
	}
	if b.Trip != nil {
		word, limit := "above", b.Trip.Above
		if limit == nil {
			word, limit = "below", b.Trip.Below
		}
		add(true, "trip %s %s %g for %s", label(b.Trip.ADC), word, *limit, b.Trip.For)
	}
	add(b.LeaseRequired, "lease_required")
	add(b.OnDisconnectSafe, "on_disconnect safe")
	return list
}

// Check reads back every output that has a level and is in service, and names those whose line has another. It is what the guard's own
// watchdog asks: a guard that has lost its outputs must not go on.
func (t *Table) Check() error {
	var bad []string
	for _, p := range t.pins {
		t.mu.Lock()
		level, changed := p.level, p.changed
		steady := p.b.Output() && level >= 0 && p.freq == 0 && p.lent == nil && p.held == nil && p.fault == "" && !p.stuck && !t.closed &&
			(p.mode != hw.ModeOpenDrain || level == 0) // a line that was let go may be held by others
		t.mu.Unlock()
		r := &request{verb: verbRead}
		if !steady || t.do(p, r) == nil && r.value == level {
			continue
		}
		t.mu.Lock()
		same := p.changed.Equal(changed) && p.level == level && p.fault == "" // else it was driven meanwhile, or is known to be at fault
		t.mu.Unlock()
		if same {
			bad = append(bad, p.b.Label())
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return errors.New("outputs have another level than they were driven to: " + strings.Join(bad, ", "))
}
