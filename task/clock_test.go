package task

import (
	"testing"
	"time"

	"github.com/pal-terminal/pal/protocol"
)

const year = 365 * 24 * time.Hour

// A step of the wall clock is never a burst, and intervals find their phase on it again.
func TestClockSteps(t *testing.T) {
	for _, step := range []time.Duration{time.Hour, -time.Hour, year, -year, 1300 * time.Millisecond, -1700 * time.Millisecond, 6 * 366 * 24 * time.Hour} {
		t.Run(step.String(), func(t *testing.T) {
			w := newWorld(t)
			w.step(2 * year)
			begin := w.Now().Wall
			fast, slow := w.add(persistent(every(200*time.Millisecond))), w.add(every(10*time.Minute))
			daily := w.add(persistent(protocol.Brief{Name: "t", Cron: "30 5 * * *", Misfire: "all"}))
			shot := w.add(protocol.Brief{Name: "t", AfterMS: ms(120_000)})
			w.run(time.Minute)
			w.step(step)
			before := w.count(fast)
			w.run(time.Minute)
			if got := w.count(fast) - before; got < 299 || got > 301 {
				t.Errorf("got %d runs in the minute after the step, want 300", got)
			}
			for i, r := range w.runs {
				if phase := r.Due.Sub(begin) % (200 * time.Millisecond); r.TaskID == fast && phase != 0 {
					t.Fatalf("run %d: got phase %v", i, phase)
				}
			}
			w.wantRuns(shot, 1) // after two minutes, whatever the wall clock showed
			if err := w.m.Cancel(fast); err != nil {
				t.Fatal(err)
			}
			w.run(48*time.Hour - time.Minute)
			if got := w.count(slow); got < 287 || got > 289 {
				t.Errorf("got %d runs of the slow task in 48 h, want 288", got)
			}
			if got := w.count(daily); got < 2 || got > 3 {
				t.Errorf("got %d daily runs in 48 h, want 2, or 3 when the step passed one", got)
			}
			for i := 1; i < len(w.starts); i++ {
				if w.runs[i].TaskID == fast && w.runs[i-1].TaskID == fast && w.starts[i].Boot-w.starts[i-1].Boot < 100*time.Millisecond {
					t.Fatalf("got two runs %v apart", w.starts[i].Boot-w.starts[i-1].Boot)
				}
			}
		})
	}
}

// A cron time that a small correction passes over is late, not lost; one that comes twice by a correction runs once.
func TestSmallCorrections(t *testing.T) {
	w := newWorld(t)
	id := w.add(protocol.Brief{Name: "t", Cron: "1 5 * * *"})
	w.run(59 * time.Second)
	w.step(5 * time.Second)
	w.run(time.Second)
	w.wantRuns(id, 1)
	w.step(-time.Hour)
	w.run(2 * time.Hour)
	w.wantRuns(id, 1)
	w.run(23 * time.Hour)
	w.wantRuns(id, 2)
}

// The clock starts in 1970, as boards without a battery do: cron and at wait, intervals run, and nothing comes in a burst after.
func TestClockNotSet(t *testing.T) {
	w := newWorld(t)
	hourly := w.add(persistent(protocol.Brief{Name: "t", Cron: "0 * * * *"}))
	at := w.add(persistent(protocol.Brief{Name: "t", At: birth.Add(30 * time.Minute).Format(time.RFC3339)}))
	after := w.add(persistent(protocol.Brief{Name: "t", AfterMS: ms(600_000)}))
	second := w.add(persistent(every(time.Second)))
	w.run(time.Minute)
	w.cut(time.Second)
	right := w.Now().Wall
	w.off = time.Unix(0, 0)
	w.start()
	late := w.add(persistent(protocol.Brief{Name: "t", Cron: "30 * * * *"}))
	w.runs = nil
	w.run(2 * time.Hour)
	for _, id := range []string{hourly, at, after, late} {
		w.wantState(id, "waiting_for_clock")
		w.wantRuns(id, 0)
	}
	w.wantRuns(second, 7200)
	w.step(right.Add(2*time.Hour + time.Minute).Sub(w.Now().Wall))
	w.runs = nil
	w.run(10 * time.Second)
	w.wantRuns(hourly, 1)
	w.wantRuns(at, 1)
	w.wantRuns(after, 1)
	w.wantRuns(late, 0)
	if got := w.count(second); got < 10 || got > 12 {
		t.Errorf("got %d runs of the interval in 10 s, want 10 and one that makes up", got)
	}
	if got := w.get(hourly).Missed["power"]; got != 1 {
		t.Errorf("got %d hours missed, want 1 besides the one made up for", got)
	}
	w.run(30 * time.Minute)
	w.wantRuns(late, 1)
}

// What was counted from a clock that was not set starts anew with the next start: the old count means nothing.
func TestRestartWithAClockNeverSet(t *testing.T) {
	w := newWorld(t)
	w.off = time.Unix(0, 0)
	after := w.add(persistent(protocol.Brief{Name: "t", AfterMS: ms(60_000)}))
	second := w.add(persistent(every(time.Second)))
	w.run(30 * time.Second)
	w.wantRuns(second, 30)
	w.cut(time.Hour)
	for range 2 {
		w.off = time.Unix(0, 0)
		w.start()
		w.runs = nil
		w.run(59 * time.Second)
		w.wantRuns(after, 0)
		w.wantRuns(second, 59)
	}
	w.step(birth.Sub(w.Now().Wall))
	w.run(time.Second)
	w.wantRuns(after, 1)
	w.wantRuns(second, 60)
}

// A clock that starts before the newest time stored is not believed: until it gets there, is set, or a person says it is right.
func TestClockBeforeTheNewestStored(t *testing.T) {
	for _, way := range []string{"time passes", "it is set", "a person"} {
		t.Run(way, func(t *testing.T) {
			w := newWorld(t)
			id := w.add(persistent(protocol.Brief{Name: "t", Cron: "*/10 * * * *"}))
			w.run(time.Hour + 5*time.Minute)
			w.wantRuns(id, 6)
			w.cut(-time.Hour)
			w.run(20 * time.Minute)
			w.wantState(id, "waiting_for_clock")
			if err := w.m.Resume(id, false); err != nil {
				t.Fatal(err)
			}
			w.wantState(id, "waiting_for_clock")
			switch way {
			case "time passes":
				w.run(41 * time.Minute)
			case "it is set":
				w.step(time.Hour)
				w.run(time.Second)
			case "a person":
				if err := w.m.Resume(id, true); err != nil {
					t.Fatal(err)
				}
			}
			w.wantState(id, "pending")
		})
	}
}

// An at that had passed before it was registered, which nobody could know, fails and does not run.
func TestAtThatHadPassed(t *testing.T) {
	w := newWorld(t)
	w.off = time.Unix(0, 0)
	id := w.add(protocol.Brief{Name: "t", At: birth.Format(time.RFC3339)})
	w.step(birth.Add(year).Sub(w.Now().Wall))
	w.run(time.Minute)
	w.wantRuns(id, 0)
	w.wantState(id, "failed")
	if _, _, err := w.m.Register(Owner{}, protocol.Brief{Name: "t", At: birth.Format(time.RFC3339)}, "x"); code(t, err) != protocol.CodeBadRequest {
		t.Errorf("got %v for a time that has passed", err)
	}
}

// The machine sleeps: both clocks go on, nobody looks.
func TestSuspend(t *testing.T) {
	w := newWorld(t)
	fast := w.add(every(200 * time.Millisecond))
	hourly := w.add(protocol.Brief{Name: "t", Cron: "0 * * * *"})
	shot := w.add(protocol.Brief{Name: "t", AfterMS: ms(3_600_000)})
	w.run(time.Minute)
	w.pass(8*time.Hour + 100*time.Millisecond)
	w.runs = nil
	w.run(time.Second)
	if got := w.count(fast); got < 5 || got > 6 {
		t.Errorf("got %d runs in the second after, want 5, and perhaps the one that is late", got)
	}
	w.wantRuns(hourly, 1)
	w.wantRuns(shot, 1)
	if got := w.get(fast).Missed["late"]; got != 8*3600*5-1 { // the newest runs, late
		t.Errorf("got %d missed, want %d", got, 8*3600*5-1)
	}
}

// Leap seconds come as a step of a second back, or smeared: neither is worth a hiccup.
func TestLeapSecond(t *testing.T) {
	w := newWorld(t)
	id := w.add(every(200 * time.Millisecond))
	minutely := w.add(protocol.Brief{Name: "t", Cron: "* * * * *"})
	w.run(59500 * time.Millisecond)
	w.step(-time.Second)
	w.run(60500 * time.Millisecond)
	w.wantRuns(id, 600)
	w.wantRuns(minutely, 1)
	w.run(time.Second)
	w.wantRuns(minutely, 2)
}

// The rule for daylight saving: a time that does not exist runs at the first instant after the gap, one that happens twice at its
// first occurrence only.
func TestDaylightSaving(t *testing.T) {
	for _, tt := range []struct {
		name, cron, zone, after string
		want                    []string
	}{
		{"gap, daily in it", "30 2 * * *", "Europe/Berlin", "2027-03-27T12:00:00+01:00",
			[]string{"2027-03-28T03:00:00+02:00", "2027-03-29T02:30:00+02:00"}},
		{"gap, many in it once", "*/20 * * * *", "Europe/Berlin", "2027-03-28T01:39:00+01:00",
			[]string{"2027-03-28T01:40:00+01:00", "2027-03-28T03:00:00+02:00", "2027-03-28T03:20:00+02:00"}},
		{"gap, hourly", "0 * * * *", "America/New_York", "2027-03-14T00:30:00-05:00",
			[]string{"2027-03-14T01:00:00-05:00", "2027-03-14T03:00:00-04:00", "2027-03-14T04:00:00-04:00"}},
		{"fold, daily in it", "30 2 * * *", "Europe/Berlin", "2027-10-30T12:00:00+02:00",
			[]string{"2027-10-31T02:30:00+02:00", "2027-11-01T02:30:00+01:00"}},
		{"fold, many in it", "*/30 * * * *", "Europe/Berlin", "2027-10-31T01:30:00+02:00",
			[]string{"2027-10-31T02:00:00+02:00", "2027-10-31T02:30:00+02:00", "2027-10-31T03:00:00+01:00"}},
		{"fold, asked in the second", "45 1 * * *", "America/New_York", "2027-11-07T01:30:00-05:00",
			[]string{"2027-11-08T01:45:00-05:00"}},
		{"fold, on a Saturday at two", "0 2 * * 6", "America/Chicago", "2026-10-31T02:00:00-05:00",
			[]string{"2026-11-07T02:00:00-06:00"}},
		{"gap at midnight", "0 0 4 11 *", "America/Sao_Paulo", "2018-11-03T23:00:00-03:00",
			[]string{"2018-11-04T01:00:00-02:00", "2019-11-04T00:00:00-03:00"}},
		{"gap at midnight, after it", "0 1 4 11 *", "America/Sao_Paulo", "2018-11-03T23:00:00-03:00",
			[]string{"2018-11-04T01:00:00-02:00"}},
		{"fold of half an hour", "45 1 * * *", "Australia/Lord_Howe", "2027-04-03T12:00:00+11:00",
			[]string{"2027-04-04T01:45:00+11:00", "2027-04-05T01:45:00+10:30"}},
		{"gap of half an hour", "15 2 * * *", "Australia/Lord_Howe", "2027-10-02T12:00:00+10:30",
			[]string{"2027-10-03T02:30:00+11:00"}},
		{"gap of a day", "0 12 30 12 *", "Pacific/Apia", "2011-12-01T00:00:00-10:00",
			[]string{"2011-12-31T00:00:00+14:00", "2012-12-30T12:00:00+14:00"}},
		{"no daylight saving", "30 2 * * *", "UTC", "2027-03-28T00:00:00Z", []string{"2027-03-28T02:30:00Z"}},
		{"leap day", "0 0 29 2 *", "UTC", "2097-01-01T00:00:00Z", []string{"2104-02-29T00:00:00Z"}},
		{"31st", "0 0 31 * *", "UTC", "2027-01-31T00:00:00Z", []string{"2027-03-31T00:00:00Z", "2027-05-31T00:00:00Z"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			loc, err := time.LoadLocation(tt.zone)
			if err != nil {
				t.Fatal(err)
			}
			c, err := parseCron(tt.cron, loc)
			if err != nil {
				t.Fatal(err)
			}
			at, err := time.Parse(time.RFC3339, tt.after)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.want {
				at = c.next(at)
				if got := at.In(loc).Format(time.RFC3339); got != want {
					t.Fatalf("got %s, want %s", got, want)
				}
			}
		})
	}
}
