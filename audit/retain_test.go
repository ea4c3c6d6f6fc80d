package audit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pal-terminal/pal/limits"
)

// Each start begins a segment: many starts must not wash away what was done before them, or it would be done again.
func TestStartsRemoveNothing(t *testing.T) {
	dir := t.TempDir()
	for n := range 3 * limits.AuditSegments {
		var first Entry
		o := Options{Terminal: "test one", SegmentBytes: limits.AuditSegmentBytes, Replay: func(e Entry) {
			if first.ID == "" {
				first = e
			}
		}}
		l, _ := sample(t, dir, o)
		if n > 0 && first.ID != "1" {
			t.Fatalf("start %d: the oldest request that is known is %q, want 1", n, first.ID)
		}
		fill(t, l, n+1, n+2)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	// What is longer than so many full segments goes all the same, also when each counts as longer than it is.
	l, d := sample(t, dir, Options{Segments: 3, SegmentBytes: limits.AuditSegmentLeast})
	defer l.Close()
	if names, err := segments(d, "audit"); err != nil || len(names) != 3 {
		t.Errorf("got %d segments, %v, want 3", len(names), err)
	}
}

// A start reads the newest part of the log only, and knows what stands there.
func TestReplayIsBounded(t *testing.T) {
	dir := t.TempDir()
	l, d := sample(t, dir, Options{SegmentBytes: 1 << 20, Segments: 100})
	big := bytes.Repeat([]byte("x y "), 4<<10)
	n := 0
	for total := 0; total < limits.AuditReplay+4<<20; total += len(big) {
		e := intent(n)
		e.Data = fmt.Appendf(nil, `{"code":%q}`, big)
		l.Lazy(e)
		if n++; n%100 == 0 {
			if err := l.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	seen, first := 0, ""
	l, _, err := Open(d, "audit", Options{Replay: func(e Entry) {
		if e.Kind == KindIntent {
			if seen++; first == "" {
				first = e.Trace
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if seen == 0 || seen >= n || first == "t_0" {
		t.Errorf("replayed %d of %d, the first %s: want the newest part", seen, n, first)
	}
	mustVerify(t, d, nil)
}

// One old segment that cannot be read stops no start; it is told.
func TestUnreadableSegment(t *testing.T) {
	dir := t.TempDir()
	l, d := sample(t, dir, Options{})
	fill(t, l, 1, 20)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := segments(d, "audit")
	if err != nil || len(names) < 3 {
		t.Fatalf("got %d segments, %v", len(names), err)
	}
	if err := os.Truncate(filepath.Join(dir, "audit", names[1]), limits.AuditSegmentLongest+1); err != nil {
		t.Fatal(err)
	}
	var told []string
	l, _, err = Open(d, "audit", Options{Damaged: func(problem string) { told = append(told, problem) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil || len(told) != 1 || !strings.Contains(told[0], names[1]) {
		t.Errorf("told %q, %v, want the segment", told, err)
	}
}
