package pin

import (
	"fmt"
	"math"
	"time"

	"github.com/pal-terminal/pal/limits"
)

// sampler looks at the watched inputs every limits.TripSampling until the table is closed.
func (t *Table) sampler() {
	tick := time.NewTicker(limits.TripSampling)
	defer tick.Stop()
	for {
		select {
		case <-t.done:
			return
		case <-tick.C:
			t.sample()
		}
	}
}

// sample looks at every watched input once and makes safe what must be.
func (t *Table) sample() {
	for _, p := range t.pins {
		if p.b.Requires != nil && t.isOn(p) && t.unmet(p) {
			t.guardSafe(p, CauseRequires)
		}
		if p.b.Trip != nil {
			t.checkTrip(p)
		}
	}
}

func (t *Table) isOn(p *pin) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return p.energised
}

// guardSafe makes an output safe without waiting for a slow driver: other outputs are to be looked at.
func (t *Table) guardSafe(p *pin, cause string) {
	only := func(p *pin) bool { return p.energised }
	if t.direct {
		t.makeSafe(p, cause, only)
		return
	}
	t.startSafe(p, cause, only)
}

// checkTrip takes one sample of the trip on p. An input that cannot be read counts as past its threshold.
func (t *Table) checkTrip(p *pin) {
	trip := p.b.Trip
	value, err := t.reading(t.pins[trip.ADC])
	if err != nil {
		value = math.NaN()
	}
	now := t.now()
	t.mu.Lock()
	met := trip.Met(value)
	switch {
	case !met:
		p.tripFrom = time.Time{}
	case p.tripFrom.IsZero():
		p.tripFrom = now
	}
	fresh := met && !p.tripped && now.Sub(p.tripFrom) >= trip.For
	p.tripped = p.tripped || fresh
	tripped := p.tripped
	t.mu.Unlock()
	if tripped {
		t.guardSafe(p, CauseTrip)
	}
	if fresh {
		input := t.pins[trip.ADC]
		e := Event{Kind: EventTrip, Level: p.b.Safe, Value: value, Cause: CauseTrip, At: now}
		e.Text = fmt.Sprintf("%s tripped: %s reads %.4g %s", p.name(), input.name(), value, input.b.Unit)
		if math.IsNaN(value) || math.IsInf(value, 0) {
			e.Value = 0
			e.Text = fmt.Sprintf("%s tripped: %s cannot be read", p.name(), input.name())
		}
		t.emit(p, e)
	}
}

// reading samples an analogue input in its unit.
func (t *Table) reading(p *pin) (float64, error) {
	r := &request{verb: verbADC}
	if err := t.do(p, r); err != nil {
		return 0, err
	}
	return p.b.Reading(r.value), nil
}
