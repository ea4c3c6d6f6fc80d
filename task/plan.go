package task

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// never is a time of the boot clock that does not come.
const never = time.Duration(1) << 61

// plan is a brief, understood. One of every, cron, at and after is set.
type plan struct {
	every, after   time.Duration
	cron           *cron
	at             time.Time
	jitter         time.Duration
	timeout        time.Duration
	max            uint64 // runs in all, 0 for no end
	misfire        string // empty: once for what is persistent or runs once, else skip
	persistent     bool
	heldWithoutHub bool
}

func (p *plan) once() bool   { return p.after > 0 || !p.at.IsZero() }
func (p *plan) onWall() bool { return p.cron != nil || !p.at.IsZero() }

// slow reports whether a write for each run is a write a minute at most.
func (p *plan) slow() bool { return p.every == 0 || p.every >= limits.TaskMarkEvery }

// rule is what is done about due times that passed.
func (p *plan) rule() string {
	switch {
	case p.misfire != "":
		return p.misfire
	case p.persistent || p.once():
		return "once"
	default:
		return "skip"
	}
}

// spread returns by how much the run of a due time is put off: the same for the same task and due time.
func (p *plan) spread(id string, due time.Time) time.Duration {
	if p.jitter <= 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write(binary.LittleEndian.AppendUint64([]byte(id), uint64(due.UnixMicro())))
	x := h.Sum64()
	x = (x ^ x>>33) * 0xff51afd7ed558ccd // FNV's high bits hardly move for neighbours
	return time.Duration((x ^ x>>33) % uint64(p.jitter))
}

// planOf checks a brief. now is zero when the clock is not set, or when the brief was accepted before.
func (o *Options) planOf(b *protocol.Brief, now time.Time) (*plan, error) {
	p := &plan{
		persistent: b.Storage == "persistent", heldWithoutHub: b.OnHubLoss == "hold", misfire: b.Misfire,
		timeout: min(limits.TaskTimeoutDefault, o.MaxTimeout),
	}
	if err := p.when(b, o.Location, now); err != nil {
		return nil, err
	}
	for _, word := range []struct{ field, got, a, b, c string }{
		{"storage", b.Storage, "volatile", "persistent", ""},
		{"misfire", b.Misfire, "skip", "once", "all"},
		{"on_hub_loss", b.OnHubLoss, "continue", "hold", ""},
	} {
		if word.got != "" && word.got != word.a && word.got != word.b && (word.c == "" || word.got != word.c) {
			return nil, fmt.Errorf("%s: %q is unknown", word.field, word.got)
		}
	}
	if len(b.Name) == 0 || len(b.Name) > limits.NameBytes {
		return nil, fmt.Errorf("name must be 1 to %d bytes", limits.NameBytes)
	}
	if len(b.Resources) > limits.ListItems {
		return nil, fmt.Errorf("at most %d resources", limits.ListItems)
	}
	for _, use := range b.Resources {
		if use.Resource == "" || use.Verb != "" && use.Verb != "drive" && use.Verb != "read" {
			return nil, fmt.Errorf("resources: %q with verb %q; a resource has a name, and verb drive or read", use.Resource, use.Verb)
		}
	}
	if err := span(b.TimeoutMS, "timeout_ms", time.Millisecond, o.MaxTimeout, &p.timeout); err != nil {
		return nil, err
	}
	longest := limits.TaskJitter
	if p.every > 0 {
		longest = p.every - time.Millisecond
	}
	if err := span(b.JitterMS, "jitter_ms", 0, longest, &p.jitter); err != nil {
		return nil, err
	}
	if p.once() {
		p.max = 1
	}
	if b.MaxRuns != nil {
		if *b.MaxRuns < 1 || p.once() && *b.MaxRuns != 1 {
			return nil, fmt.Errorf("max_runs must be 1 or more, and 1 for a task that runs once")
		}
		p.max = uint64(*b.MaxRuns)
	}
	return p, nil
}

// when reads the one field that says when.
func (p *plan) when(b *protocol.Brief, local *time.Location, now time.Time) error {
	given := 0
	for _, is := range []bool{b.IntervalMS != nil, b.Cron != "", b.At != "", b.AfterMS != nil} {
		if is {
			given++
		}
	}
	if given != 1 {
		return fmt.Errorf("give exactly one of interval_ms, cron, at and after_ms, not %d", given)
	}
	if b.TimeZone != "" && b.Cron == "" {
		return fmt.Errorf("time_zone is for cron alone")
	}
	if err := span(b.IntervalMS, "interval_ms", limits.TaskPeriodLeast, limits.TaskPeriodLongest, &p.every); err != nil {
		return err
	}
	if err := span(b.AfterMS, "after_ms", 0, limits.TaskPeriodLongest, &p.after); err != nil {
		return err
	}
	if b.AfterMS != nil {
		p.after = max(p.after, time.Millisecond)
	}
	var err error
	switch {
	case b.Cron != "":
		if b.TimeZone != "" {
			if local, err = time.LoadLocation(b.TimeZone); err != nil || b.TimeZone == "Local" {
				return fmt.Errorf("time_zone: %q is not a zone of the IANA database, such as Europe/Berlin", b.TimeZone)
			}
		}
		p.cron, err = parseCron(b.Cron, local)
	case b.At != "":
		if p.at, err = time.Parse(time.RFC3339, b.At); err != nil {
			return fmt.Errorf("at: %q is not a time in RFC 3339, such as 2026-12-01T08:00:00+01:00", b.At)
		}
		if p.at.Year() < limits.ClockLeastYear || p.at.Year() >= limits.TaskYearsEnd || !now.IsZero() && !p.at.After(now) {
			err = fmt.Errorf("at: %s has passed or is too far away; here it is %s", b.At, now.Format(time.RFC3339))
		}
	}
	return err
}

func span(ms *int64, field string, least, most time.Duration, to *time.Duration) error {
	if ms == nil {
		return nil
	}
	if *ms < least.Milliseconds() || *ms > most.Milliseconds() {
		return fmt.Errorf("%s must be %d to %d", field, least.Milliseconds(), most.Milliseconds())
	}
	*to = time.Duration(*ms) * time.Millisecond
	return nil
}
