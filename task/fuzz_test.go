package task

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// FuzzBrief throws JSON at the brief: what is accepted can be scheduled, stored, read back and due, and is the same plan then.
func FuzzBrief(f *testing.F) {
	for _, seed := range []string{
		`{"name":"a","interval_ms":200,"storage":"persistent","jitter_ms":199,"max_runs":3}`, `{"name":"a","after_ms":1,"misfire":"skip"}`,
		`{"name":"a","cron":"*/5 8-18 1,15 * mon-fri","time_zone":"Europe/Berlin","misfire":"all"}`, `{"name":"a","at":"2027-01-01T00:00:00+14:00"}`,
		`{"name":"a","cron":"TZ= * * * *"}`, `{"name":"a","cron":"0 0 30 2 *"}`, `{"name":"a","interval_ms":9223372036854775807}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var b protocol.Brief
		if json.Unmarshal(raw, &b) != nil {
			return
		}
		w := newWorld(t)
		w.disk.records["other"] = nil
		id, next, err := w.m.Register(Owner{Actor: "a"}, b, "x")
		if err != nil {
			_ = code(t, err)
			return
		}
		if !next.After(birth) {
			t.Fatalf("%s: got next %v, which is not after now, %v", raw, next, birth)
		}
		w.pass(min(next.Sub(birth), 100*year))
		w.m.turn(t.Context())
		if w.count(id) != 1 && next.Sub(birth) < 100*year {
			t.Fatalf("%s: not run when it was due, %v", raw, next)
		}
	})
}

// FuzzRecords throws bytes at the records: nothing stops the start, and what is left can be listed and cancelled.
func FuzzRecords(f *testing.F) {
	w := newWorld(f)
	w.add(persistent(every(time.Second)))
	w.run(2 * time.Minute)
	f.Add(w.disk.records["tasks"], w.disk.records["task-001"])
	f.Add([]byte(`{"version":1,"ids":18446744073709551615,"newest_ns":-9223372036854775808,"tasks":{"001":{"handled_ns":-1,"runs":9}}}`), w.disk.records["task-001"])
	f.Fuzz(func(t *testing.T, marks, rec []byte) {
		w := newWorld(t)
		w.disk.records = map[string][]byte{"tasks": marks, "task-001": rec}
		w.start()
		w.run(10 * time.Second)
		if n := len(w.runs); n > 1010+limits.TaskMissed {
			t.Fatalf("got %d runs in 10 s", n)
		}
		for _, info := range w.m.List() {
			if err := w.m.Cancel(info.TaskID); err != nil {
				t.Fatal(err)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(w.disk.records)) {
			if key == "task-001" {
				t.Fatal("its record is still there")
			}
		}
	})
}

// FuzzCron holds cron to a search that tries every minute.
func FuzzCron(f *testing.F) {
	for _, seed := range []string{"* * * * *", "5,99 * * * *", "0 0 1 * 1", "0 0 */2 * 1", "0 0 * * 5-7/2", "0 12 31 jan-MAR sun", "59 23 28-31 2 *", "1-5/2,7 */6 ? * *"} {
		f.Add(seed, int64(1_800_000_000))
	}
	f.Fuzz(func(t *testing.T, expr string, at int64) {
		c, err := parseCron(expr, time.UTC)
		if err != nil {
			return
		}
		checkCron(t, c, time.Unix(1_600_000_000+at&0x3fff_ffff, 0).UTC())
	})
}

func TestCronAgainstEveryMinute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		field := func(low, high int) string {
			var parts []string
			for range rapid.IntRange(1, 3).Draw(t, "parts") {
				a := rapid.IntRange(low, high).Draw(t, "from")
				b := rapid.IntRange(a, high).Draw(t, "to")
				part := []string{"*", strconv.Itoa(a), strconv.Itoa(a) + "-" + strconv.Itoa(b)}[rapid.IntRange(0, 2).Draw(t, "form")]
				if rapid.Bool().Draw(t, "stepped") {
					part += "/" + strconv.Itoa(rapid.IntRange(1, 9).Draw(t, "step"))
				}
				parts = append(parts, part)
			}
			return strings.Join(parts, ",")
		}
		expr := strings.Join([]string{field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 7)}, " ")
		c, err := parseCron(expr, time.UTC)
		if err != nil {
			if !strings.Contains(err.Error(), "no date") {
				t.Fatalf("%q: %v", expr, err)
			}
			return
		}
		checkCron(t, c, time.Unix(rapid.Int64Range(1_700_000_000, 2_000_000_000).Draw(t, "at"), 0).UTC())
	})
}

// checkCron compares the next three times with those that a search finds which tries each minute of each day that fits.
func checkCron(t rapid.TB, c *cron, at time.Time) {
	for range 3 {
		got := c.next(at)
		want := at.Truncate(time.Minute).Add(time.Minute)
		for i := 0; !fits(c.expr, want) && i < 2_000_000; i++ {
			if !fitsDay(c.expr, want) {
				want = want.Truncate(24*time.Hour).AddDate(0, 0, 1)
			} else {
				want = want.Add(time.Minute)
			}
		}
		if !got.Equal(want) {
			t.Fatalf("%q after %v: got %v, want %v", c.expr, at, got, want)
		}
		at = got
	}
}

func fits(expr string, at time.Time) bool {
	f := strings.Fields(expr)
	return fitsDay(expr, at) && in(f[0], at.Minute(), 59) && in(f[1], at.Hour(), 23)
}

// fitsDay is the rule of crontab(5): when both days are restricted, one of them is enough; a field that begins with * is not.
func fitsDay(expr string, at time.Time) bool {
	f := strings.Fields(expr)
	day, week := in(f[2], at.Day(), 31), in(f[4], int(at.Weekday()), 7) || at.Weekday() == 0 && in(f[4], 7, 7)
	if f[2][0] == '*' || f[4][0] == '*' {
		return in(f[3], int(at.Month()), 12) && day && week
	}
	return in(f[3], int(at.Month()), 12) && (day || week)
}

func in(field string, n, most int) bool {
	for part := range strings.SplitSeq(field, ",") {
		span, by, stepped := strings.Cut(part, "/")
		low, high, ranged := strings.Cut(span, "-")
		from, _ := strconv.Atoi(low)
		to, _ := strconv.Atoi(high)
		step, _ := strconv.Atoi(by)
		switch {
		case span == "*":
			to = most
			if most == 31 || most == 12 {
				from = 1
			}
		case !ranged && stepped:
			to = most
		case !ranged:
			to = from
		}
		if n >= from && n <= to && (n-from)%max(step, 1) == 0 {
			return true
		}
	}
	return false
}
