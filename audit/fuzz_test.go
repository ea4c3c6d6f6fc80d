package audit

import (
	"sync"
	"testing"

	"github.com/pal-terminal/pal/limits"
)

// Whatever bytes a segment holds, walk takes whole lines only and never panics.
func FuzzWalk(f *testing.F) {
	f.Add([]byte("\n"))
	f.Add(appendLine(nil, link([32]byte{}, []byte(`{}`)), []byte(`{}`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		end, _, problem := walk(data, nil, nil)
		if problem == "" && end != int64(len(data)) || end > 0 && data[end-1] != '\n' {
			t.Errorf("got end %d of %d, %q", end, len(data), problem)
		}
	})
}

func TestConcurrentAndRetention(t *testing.T) {
	l, d := sample(t, t.TempDir(), Options{Segments: 3})
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 40 {
				if err := l.Append(intent(n*100 + i)).Wait(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	kept := l.Head()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := segments(d, "audit")
	if r := mustVerify(t, d, &kept); err != nil || len(names) != 3 || r.First == 1 || r.Last < 320 {
		t.Errorf("got %v, %+v, %v, want the 3 newest segments", names, r, err)
	}
}

func BenchmarkAppendMany(b *testing.B) {
	l, _ := sample(b, b.TempDir(), Options{SegmentBytes: limits.AuditSegmentBytes})
	defer l.Close()
	b.SetParallelism(4) // of 2 processors
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := l.Append(intent(1)).Wait(b.Context()); err != nil {
				b.Error(err)
			}
		}
	})
}
