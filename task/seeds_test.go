package task

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// crash is panicked with where the power is cut.
type crash struct{}

// life is one seed: random operations on a world, and what must be true of them.
type life struct {
	*world
	rng     *rand.Rand
	slow    bool // minutes and hours, not milliseconds and seconds
	length  int  // operations
	stepped int
	cuts    int
	briefs  map[string]protocol.Brief
	born    map[string]time.Duration // real time of registration
	unsure  map[string]bool          // cancelled, or ended for a reason that excuses it from running
	touched map[string]bool          // paused or held by itself: its due times are not all counted
	held    map[string]bool          // by an e-stop, on disk, and not resumed
	estop   bool
	cutting float64 // chance of a cut at each write and run
	inside  bool
}

func (l *life) pick(list ...time.Duration) time.Duration { return list[l.rng.IntN(len(list))] }

func (l *life) chance(p float64) bool { return l.rng.Float64() < p }

func (l *life) brief() protocol.Brief {
	b := protocol.Brief{Name: "t", Misfire: []string{"", "", "skip", "once", "all"}[l.rng.IntN(5)]}
	if l.chance(0.6) {
		b.Storage = "persistent"
	}
	unit := 10 * time.Millisecond
	if l.slow {
		unit = time.Minute
	}
	switch kind := l.rng.IntN(6); {
	case kind < 3:
		b.IntervalMS = ms((unit * time.Duration(1+l.rng.IntN(100))).Milliseconds())
		if l.chance(0.3) {
			b.JitterMS = ms(l.rng.Int64N(*b.IntervalMS))
		}
		if l.chance(0.3) {
			b.MaxRuns = ms(1 + l.rng.Int64N(8))
		}
	case kind == 3:
		b.AfterMS = ms((unit * time.Duration(1+l.rng.IntN(100))).Milliseconds())
	case kind == 4 && l.slow:
		b.Cron = []string{"0 * * * *", "*/20 * * * *", "30 2 * * *"}[l.rng.IntN(3)]
		b.TimeZone = []string{"", "Europe/Berlin", "America/New_York"}[l.rng.IntN(3)]
	default:
		b.At = l.Now().Wall.Add(unit*time.Duration(1+l.rng.IntN(100)) + time.Second).Format(time.RFC3339)
	}
	return b
}

// ran is called in each run.
func (l *life) ran(r Run) time.Duration {
	m := l.m.m
	if l.inside {
		l.t.Fatalf("task %s runs inside another", r.TaskID)
	}
	if l.chance(l.cutting) {
		panic(crash{})
	}
	if l.estop || l.held[r.TaskID] {
		l.t.Fatalf("task %s runs under the hold of an e-stop", r.TaskID)
	}
	at := m.startAt - time.Duration(m.run.LatenessUS)*time.Microsecond
	for _, j := range m.list {
		if due, _ := m.due(j); j != m.running && due < at-time.Microsecond && r.Cause == CauseSchedule {
			l.t.Fatalf("task %s runs, due %v, before %s, due %v", r.TaskID, at, j.ID, due)
		}
	}
	if r.Cause == CauseSchedule && r.Due.After(l.Now().Wall.Add(time.Millisecond)) {
		l.t.Fatalf("task %s runs at %v, due %v", r.TaskID, l.Now().Wall, r.Due)
	}
	l.inside = true
	if l.chance(0.1) {
		l.operate()
	}
	l.inside = false
	if l.slow {
		return l.pick(0, time.Second, time.Minute, 10*time.Minute)
	}
	return l.pick(0, 0, time.Millisecond, 100*time.Millisecond, time.Second)
}

func (l *life) any() string {
	if len(l.briefs) == 0 {
		return "001"
	}
	return slices.Sorted(maps.Keys(l.briefs))[l.rng.IntN(len(l.briefs))]
}

// operate does one thing that anybody may do at any time.
func (l *life) operate() {
	id := l.any()
	op := l.rng.IntN(14)
	if op == 8 || op == 10 || op == 12 {
		op = []int{op, 9, 11, 5, 13}[l.rng.IntN(5)] // what stops all is rare, or nothing would run
	}
	switch op {
	case 0, 1, 2:
		b := l.brief()
		id, _, err := l.m.Register(Owner{Actor: "agent"}, b, "x")
		if err != nil {
			return
		}
		if _, again := l.briefs[id]; again {
			l.t.Fatalf("got id %s again", id)
		}
		l.briefs[id], l.born[id] = b, l.real
	case 3:
		l.unsure[id] = true
		_ = l.m.Cancel(id)
	case 4:
		l.touched[id] = true
		_ = l.m.Pause(id)
	case 5, 6:
		if l.m.Resume(id, true) == nil {
			delete(l.held, id)
		}
	case 7:
		_ = l.m.Trigger(id)
		l.touched[id] = true
	case 8:
		l.estop = true
		l.m.Hold(HoldEstop)
	case 9:
		if l.estop && l.m.Unhold(HoldEstop) == nil {
			l.estop = false
			for _, id := range slices.Sorted(maps.Keys(l.briefs)) {
				if info, err := l.m.Get(id, false); err == nil && info.Reason == HoldEstop {
					l.held[id] = true
				}
			}
		}
	case 10:
		l.m.Hold([]string{HoldStorage, HoldHub}[l.rng.IntN(2)])
	case 11:
		_ = l.m.Unhold([]string{HoldStorage, HoldHub}[l.rng.IntN(2)])
	case 12:
		l.stepped++
		l.step(l.pick(time.Hour, -time.Hour, year, -year, 40*time.Second, -40*time.Second, 1500*time.Millisecond, -57*year, 57*year))
	case 13:
		l.disk.fail = nil
		if l.chance(0.2) {
			l.disk.fail = func(string, string) error { return errDisk }
		}
	}
}

// guarded does something, and cuts the power where it is cut.
func (l *life) guarded(do func()) {
	defer func() {
		if p := recover(); p != nil {
			if _, is := p.(crash); !is {
				panic(p)
			}
			l.inside = false
			l.restart()
		}
	}()
	do()
}

func (l *life) restart() {
	l.cuts++
	fail, cutting := l.disk.fail, l.cutting
	l.disk.fail, l.cutting = nil, 0
	l.cut(l.pick(time.Second, 5*time.Minute, 30*time.Hour))
	if l.estop {
		l.m.Hold(HoldEstop)
	}
	l.disk.fail, l.cutting = fail, cutting
	for id, b := range l.briefs {
		if b.Storage != "persistent" {
			l.unsure[id] = true
			delete(l.held, id)
		}
	}
}

func newLife(t testing.TB, seed uint64) *life {
	l := &life{
		world: newWorld(t), rng: rand.New(rand.NewPCG(seed, 7)), briefs: map[string]protocol.Brief{}, born: map[string]time.Duration{},
		unsure: map[string]bool{}, touched: map[string]bool{}, held: map[string]bool{},
	}
	l.length = 20
	l.slow = l.chance(0.5)
	l.takes = l.ran
	l.outcome = func(Run) Outcome {
		return Outcome{Code: []string{"", "", "", "python_error", "deadline", "estopped"}[l.rng.IntN(6)]}
	}
	plain := l.disk
	l.disk = &disk{records: plain.records, puts: plain.puts}
	if l.chance(0.7) {
		l.cutting = 0.01
	}
	l.o.Records = l.disk
	l.start()
	return l
}

// play does the operations of a seed and checks what must be true at its end.
func (l *life) play() {
	gate := func(string, string) error {
		if l.chance(l.cutting) {
			panic(crash{})
		}
		return nil
	}
	for range l.length {
		if l.disk.fail == nil {
			l.disk.fail = gate
		}
		l.guarded(func() {
			if l.operate(); l.slow {
				l.run(l.pick(time.Second, time.Minute, time.Hour, 5*time.Hour))
			} else {
				l.run(l.pick(time.Millisecond, 100*time.Millisecond, time.Second, 3*time.Second))
			}
		})
	}
	// All that stood in the way goes away, and time goes on until everything has been due.
	l.disk.fail, l.cutting, l.estop = nil, 0, false
	l.step(birth.Add(165 * year).Sub(l.Now().Wall))
	l.stepped++
	for _, reason := range []string{HoldEstop, HoldStorage, HoldHub} {
		if err := l.m.Unhold(reason); err != nil {
			l.t.Fatalf("unhold %s: %v", reason, err)
		}
	}
	clear(l.held)
	for id := range l.briefs {
		_ = l.m.Resume(id, true)
	}
	l.outcome, l.takes = nil, nil
	for i := range l.briefs { // the long time is the one-shots': the others would fill it
		if b := l.briefs[i]; b.IntervalMS != nil || b.Cron != "" {
			l.checkCounts(i)
			_ = l.m.Cancel(i)
		}
	}
	l.run(3 * time.Hour)
	l.checkShots()
}

func (l *life) checkShots() {
	for id, b := range l.briefs {
		if b.IntervalMS != nil || b.Cron != "" {
			continue
		}
		n := l.count(id)
		if at, err := time.Parse(time.RFC3339, b.At); err == nil && at.After(l.Now().Wall) {
			continue // the clock never got there
		}
		if n > 1 {
			l.t.Fatalf("one-shot %s %+v ran %d times", id, b, n)
		}
		if n == 0 && !l.unsure[id] && b.Misfire != "skip" && !slices.Contains(l.failed, id) {
			info, err := l.m.Get(id, false)
			l.t.Fatalf("one-shot %s %+v never ran: %+v %v", id, b, info, err)
		}
	}
}

// checkCounts checks that a recurring task ran no more often than its time allows, and that of an undisturbed one every due time is
// accounted for.
func (l *life) checkCounts(id string) {
	b, regular, owed := l.briefs[id], 0, 0
	for _, r := range l.runs {
		switch {
		case r.TaskID != id:
		case r.Cause == CauseSchedule:
			regular++
		case r.Cause == CauseCompensation:
			owed++
		}
	}
	perLoss := 1
	if b.Misfire == "all" {
		perLoss = limits.TaskMissed
	}
	if most := perLoss * (l.cuts + 2*l.stepped); owed > most {
		l.t.Fatalf("task %s made up for %d, want at most %d", id, owed, most)
	}
	if b.MaxRuns != nil && regular > int(*b.MaxRuns) {
		l.t.Fatalf("task %s ran %d times, want at most %d", id, regular, *b.MaxRuns)
	}
	if b.IntervalMS == nil {
		return
	}
	period := time.Duration(*b.IntervalMS) * time.Millisecond
	dues := int((l.real - l.born[id]) / period)
	if regular > dues+1+2*l.stepped+l.cuts {
		l.t.Fatalf("task %s ran %d times in %d periods, with %d steps and %d cuts", id, regular, dues, l.stepped, l.cuts)
	}
	info, err := l.m.Get(id, false)
	if err != nil || l.touched[id] || l.unsure[id] || l.cuts > 0 || l.stepped > 1 || slices.Contains(l.events, "task_paused "+id) || info.State == "paused" || info.State == "done" || info.Failures > 0 {
		return
	}
	for _, n := range info.Missed {
		regular += int(n)
	}
	if regular < dues-1 || regular > dues+2 {
		l.t.Fatalf("task %s %+v: %d runs and misses in %d periods: %v", id, b, regular, dues, info.Missed)
	}
}

// Random lives: PAL_TASK_SEEDS says how many, PAL_TASK_SEED names one.
func TestSeeds(t *testing.T) {
	from, n := uint64(0), uint64(10_000)
	if text := os.Getenv("PAL_TASK_SEEDS"); text != "" {
		n, _ = strconv.ParseUint(text, 10, 32)
	}
	if text := os.Getenv("PAL_TASK_SEED"); text != "" {
		from, _ = strconv.ParseUint(text, 10, 64)
		n = 1
	}
	const shards, long = 4, 400 // the first lives are long ones; all are when somebody says how many
	var runs, cuts, steps atomic.Int64
	t.Run("shards", func(t *testing.T) {
		for shard := range uint64(shards) {
			t.Run(strconv.FormatUint(shard, 10), func(t *testing.T) {
				t.Parallel()
				for seed := from + shard; seed < from+n; seed += shards {
					l := newLife(&seeded{t, seed}, seed)
					if seed >= long && os.Getenv("PAL_TASK_SEEDS") == "" {
						l.length = 2
					}
					l.play()
					runs.Add(int64(len(l.runs)))
					cuts.Add(int64(l.cuts))
					steps.Add(int64(l.stepped))
				}
			})
		}
	})
	t.Logf("%d lives: %d runs, %d cuts, %d steps of the clock", n, runs.Load(), cuts.Load(), steps.Load())
}

// seeded names the seed of a failure.
type seeded struct {
	*testing.T
	seed uint64
}

func (s *seeded) Fatalf(format string, args ...any) {
	s.Helper()
	s.T.Fatalf("PAL_TASK_SEED=%d: %s", s.seed, fmt.Sprintf(format, args...))
}
