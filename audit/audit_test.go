package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/store"
)

// sample opens a log with small segments in a folder of the test's.
func sample(t testing.TB, dir string, o Options) (*Log, store.Disk) {
	t.Helper()
	d, err := store.Folder(dir)
	if err != nil {
		t.Fatal(err)
	}
	o.Terminal = "test one"
	if o.SegmentBytes == 0 {
		o.SegmentBytes = 2 << 10
	}
	l, _, err := Open(d, "audit", o)
	if err != nil {
		t.Fatal(err)
	}
	return l, d
}

func intent(n int) Entry {
	return Entry{
		Kind: KindIntent, Type: "exec", Actor: "agent", Client: "c", ID: fmt.Sprint(n), Trace: fmt.Sprintf("t_%d", n), Data: fmt.Appendf(nil, `{"code":"led.on() # %d"}`, n),
	}
}

func outcome(n int) Entry {
	e := intent(n)
	e.Kind, e.Data = KindOutcome, []byte(`{"answer":{"error":false}}`)
	return e
}

// fill appends pairs of entries and waits for each.
func fill(t testing.TB, l *Log, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		for _, e := range []Entry{intent(n), outcome(n)} {
			if err := l.Append(e).Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func mustVerify(t *testing.T, d store.Disk, kept *Head) Report {
	t.Helper()
	r, err := VerifyFiles(t.Context(), d, "audit", "", kept)
	if err != nil || r.Problem != "" {
		t.Fatalf("verify: got %+v, %v, want no problem", r, err)
	}
	return r
}

func TestAppendAndVerify(t *testing.T) {
	dir := t.TempDir()
	l, d := sample(t, dir, Options{})
	fill(t, l, 0, 50)
	head := l.Head()
	if r, err := l.Verify(t.Context(), &head); err != nil || r.Problem != "" || r.Last != head.Size {
		t.Fatalf("verify: got %+v, %v", r, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	r := mustVerify(t, d, &head)
	if r.Entries < 100 || r.First != 1 || r.Checkpoints < 3 {
		t.Errorf("got %+v, want at least 100 entries from 1 on in several segments", r)
	}
	var seen, cut []Entry
	l, _, err := Open(d, "audit", Options{Terminal: "test one", Replay: func(e Entry) { seen = append(seen, e) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Append(intent(99)).Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if len(seen) < 100 || l.Head().Size <= head.Size {
		t.Errorf("replayed %d entries, head %d; want at least 100 and more than %d", len(seen), l.Head().Size, head.Size)
	}
	if _, cut, err = Open(d, "audit", Options{}); err != nil || len(cut) != 1 || cut[0].Trace != "t_99" {
		t.Errorf("interrupted: got %v, %v, want t_99", cut, err)
	}
}

// Every byte of a log is changed in several ways; every one must be found.
func TestEveryByte(t *testing.T) {
	dir := t.TempDir()
	l, d := sample(t, dir, Options{})
	fill(t, l, 0, 12)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	head := l.Head()
	names, err := segments(d, "audit")
	if err != nil || len(names) < 3 {
		t.Fatalf("got %v, %v, want some segments", names, err)
	}
	tried, found := 0, 0
	check := func(name string, data []byte, what string, kept *Head) {
		tried++
		if err := store.Replace(d, "audit/"+name, data); err != nil {
			t.Fatal(err)
		}
		r, err := VerifyFiles(t.Context(), d, "audit", "", kept)
		if err == nil && r.Problem == "" {
			t.Errorf("%s of %s was not found", what, name)
			return
		}
		found++
	}
	for _, name := range names {
		data, err := store.Read(d, "audit/"+name, limits.AuditSegmentLongest)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range data {
			other := append([]byte{}, data...)
			other[i] ^= 1
			check(name, other, fmt.Sprintf("a flipped bit at %d", i), nil)
			if i%7 == 0 {
				other[i] = 'x' + b%3
				if other[i] != b {
					check(name, other, fmt.Sprintf("another byte at %d", i), nil)
				}
				check(name, append(append([]byte{}, data[:i]...), data[i+1:]...), fmt.Sprintf("a byte less at %d", i), nil)
				check(name, append(append([]byte{}, data[:i+1]...), data[i:]...), fmt.Sprintf("a byte twice at %d", i), nil)
			}
		}
		lines := strings.SplitAfter(string(data), "\n")
		lines = lines[:len(lines)-1]
		for i := range lines {
			less := append(append([]string{}, lines[:i]...), lines[i+1:]...)
			check(name, []byte(strings.Join(less, "")), fmt.Sprintf("line %d left out", i), &head)
			check(name, []byte(strings.Join(lines[:i], "")), fmt.Sprintf("cut before line %d", i), &head)
			if i+1 < len(lines) {
				swapped := append([]string{}, lines...)
				swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
				check(name, []byte(strings.Join(swapped, "")), fmt.Sprintf("lines %d and %d swapped", i, i+1), nil)
			}
		}
		if err := store.Replace(d, "audit/"+name, data); err != nil {
			t.Fatal(err)
		}
	}
	mustVerify(t, d, &head)
	t.Logf("%d changes tried, %d found", tried, found)
	if tried != found || tried < 10_000 {
		t.Errorf("got %d of %d, want all of at least 10,000", found, tried)
	}
}

func BenchmarkAppend(b *testing.B) {
	l, _ := sample(b, b.TempDir(), Options{SegmentBytes: limits.AuditSegmentBytes})
	defer l.Close()
	n := 0
	for b.Loop() {
		n++
		if err := l.Append(intent(n)).Wait(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
