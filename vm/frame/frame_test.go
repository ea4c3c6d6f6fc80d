package frame

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

func samples() []any {
	return []any{
		Ready{Engine: "1.27", Sandbox: []string{"seccomp"}, Missing: []string{"landlock: old kernel"}, BootUS: 5, HeapBytes: 1 << 20, Shared: true},
		Run{Seq: 7, Job: hw.Job{Kind: hw.JobExec, Session: "a\x00b", Drop: []string{"x", ""}, Code: "print('é')", Func: "f", Args: []byte("[]"), Single: true, Eval: true, MaxOutput: 4096, Edge: hw.Edge{Pin: 3, Rose: true, Lost: 2, AtUS: -1, Label: "s"}}},
		Interrupt{Seq: 9},
		&Call{Seq: 1, Call: hw.Call{Op: hw.OpPinWrite, Pin: 5, A: 1, B: -2, C: 3, Text: "LED", Data: []byte{0, 255}, Posted: true}},
		&Reply{Reply: hw.Reply{Errno: 13, Refusal: 4, Value: -1, Extra: 8, Text: "no", Data: []byte{1}}},
		Edge{Edge: hw.Edge{Pin: 21, AtUS: 77, Label: "a"}},
		Output{Seq: 2, Stream: hw.Stderr, Data: []byte("hi")},
		Done{Seq: 3, Outcome: hw.Outcome{Exception: &hw.Exception{Class: "OSError", Message: "m", Line: 3, Traceback: "t"}, Value: []byte("1"), Fuel: 1 << 40, Refusal: 6, DroppedOut: 10, DroppedErr: 11}},
		Done{Seq: 4},
		Heartbeat{},
	}
}

func TestRoundTrip(t *testing.T) {
	for _, want := range samples() {
		buf, err := Append([]byte("front"), want)
		if err != nil {
			t.Fatalf("Append(%T): %v", want, err)
		}
		rec := buf[len("front"):]
		n, err := Length([HeaderBytes]byte(rec[:HeaderBytes]))
		if err != nil || n != len(rec)-HeaderBytes {
			t.Fatalf("Length of %T: got %d, %v, want %d", want, n, err, len(rec)-HeaderBytes)
		}
		got, err := Decode(rec[HeaderBytes:])
		if err != nil {
			t.Fatalf("Decode(%T): %v", want, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%T changed on the wire (-want +got):\n%s", want, d)
		}
	}
}

// Every shorter record must be refused, whatever it is cut in, and none may be taken for a whole one.
func TestCutAndTrailing(t *testing.T) {
	for _, rec := range samples() {
		buf, err := Append(nil, rec)
		if err != nil {
			t.Fatal(err)
		}
		body := buf[HeaderBytes:]
		for n := range len(body) {
			if got, err := Decode(body[:n]); err == nil {
				t.Errorf("%T cut to %d of %d bytes: got %+v, want an error", rec, n, len(body), got)
			}
		}
		if _, err := Decode(append(body, 0)); !errors.Is(err, ErrTrailing) {
			t.Errorf("%T with a byte more: got %v, want ErrTrailing", rec, err)
		}
	}
}

func TestTooLong(t *testing.T) {
	if _, err := Append(nil, Output{Data: make([]byte, limits.FrameBytes)}); !errors.Is(err, ErrTooLong) {
		t.Errorf("Append of a huge record: got %v, want ErrTooLong", err)
	}
	if _, err := Length([HeaderBytes]byte{255, 255, 255, 255}); !errors.Is(err, ErrTooLong) {
		t.Errorf("Length of a huge prefix: got %v, want ErrTooLong", err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, rec := range samples() {
		buf, err := Append(nil, rec)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(buf[HeaderBytes:])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		rec, err := Decode(body)
		if err != nil {
			return
		}
		buf, err := Append(nil, rec)
		if err != nil {
			t.Fatalf("decoded record does not encode: %v", err)
		}
		again, err := Decode(buf[HeaderBytes:])
		if err != nil {
			t.Fatalf("encoded record does not decode: %v", err)
		}
		if d := cmp.Diff(rec, again); d != "" {
			t.Errorf("not a fixed point:\n%s", d)
		}
	})
}
