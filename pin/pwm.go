package pin

import (
	"fmt"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

// dutyMax is the duty of a line that is always high.
const dutyMax = 65_535

// switching reports whether a duty is neither of the two levels.
func switching(duty int) bool { return duty > 0 && duty < dutyMax }

// PWM has an output switched on and off by the hardware: freq in Hz, 1 to limits.PWMHz, and the part of each period that the line
// is high, as duty of 65,535 or, when ns is not negative, as nanoseconds. A frequency of 0 ends it and makes the output safe; so
// does every configuration, and a level that is written. Every rule on the output applies as for its level that is not safe;
// one that may not switch often (min_off, max_rate) cannot do PWM at all. A duty of 0 or 65,535 is a level and is read back.
func (t *Table) PWM(c Caller, h Handle, freq, duty, ns int64) (Effect, error) {
	p, err := t.at(h)
	if err != nil {
		return Effect{}, err
	}
	if freq > 0 && freq <= limits.PWMHz && ns >= 0 && ns <= 1e9/freq {
		duty = (ns*freq*dutyMax + 5e8) / 1e9 // at most 1e9 * 65,535
	} else if ns >= 0 && freq != 0 {
		duty = -1
	}
	if freq != 0 && (freq < 0 || freq > limits.PWMHz || duty < 0 || duty > dutyMax) {
		return Effect{}, refusal(p, einval, codeBadRequest, RuleArgument,
			"%s: PWM has a frequency of 1 to %d Hz and a duty of 0 to %d, or an on-time of at most a period", p.name(), limits.PWMHz, dutyMax)
	}
	if err := t.mayTouch(c, p, true); err != nil {
		return Effect{}, err
	}
	if err := t.can(p, board.CapPWM, "a PWM output"); err != nil {
		return Effect{}, err
	}
	if t.pwm == nil {
		return Effect{}, refusal(p, eacces, codeDenied, RuleCapability, "this board's driver has no PWM")
	}
	r := &request{verb: verbPWM, caller: c, freq: freq, duty: int(duty), level: p.b.Safe}
	switch {
	case freq == 0:
	case switching(r.duty):
		r.level = 1 - p.b.Safe
	default:
		r.level = r.duty / dutyMax
	}
	r.unmet = r.level != p.b.Safe && t.unmet(p)
	if err := t.ask(p, r); err != nil {
		return Effect{}, err
	}
	return r.effect, nil
}

// startPWM has the driver do a claimed change to PWM. What is no output yet becomes one, at its safe level.
func (t *Table) startPWM(p *pin, c change) error {
	if c.configure {
		if err := t.drv.Configure(int(p.h), hw.ModeOut, c.pull, p.b.Safe); err != nil {
			return fmt.Errorf("configure for PWM: %w", err)
		}
	}
	return t.pwm.PWM(int(p.h), c.freq, c.duty)
}
