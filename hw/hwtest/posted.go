package hwtest

import (
	"slices"
	"testing"

	"github.com/pal-terminal/pal/hw"
)

// Heal writes 1 to PinName, then 0, then reads it; on OSError it writes 0.
const Heal = "from machine import Pin\np = Pin(" + PinName + ", Pin.OUT)\ntry:\n    p.value(1)\n    p.value(0)\n    p.value()\n" +
	"except OSError:\n    p.value(0)"

// postable answers as a guard that lets every pin be posted to, and refuses to write 1 when refuse is set.
func postable(refuse bool) func(hw.Call) (hw.Reply, bool) {
	return func(c hw.Call) (hw.Reply, bool) {
		switch c.Op { //nolint:exhaustive // the others are answered as usual
		case hw.OpPinOpen:
			return hw.Reply{Value: Handle, Extra: hw.PostAllowed}, true
		case hw.OpPinWrite:
			if refuse && c.A == 1 {
				return hw.Reply{Errno: 13, Refusal: 77, Text: "pin 5 stays off"}, true
			}
		}
		return hw.Reply{Extra: hw.PostAllowed}, true
	}
}

// uses are the writes, as their levels, and the reads, as -1, that came to the sink.
func uses(s *Sink) []int64 {
	var all []int64
	for _, c := range s.Calls() {
		switch c.Op { //nolint:exhaustive // an executor may ask for more
		case hw.OpPinWrite:
			all = append(all, c.A)
		case hw.OpPinRead:
			all = append(all, -1)
		}
	}
	return all
}

func testPosted(t *testing.T, ex hw.Executor) {
	s := &Sink{T: t, Answer: postable(false)}
	wellDone(t, s.Run(t.Context(), ex, Exec("", Heal)))
	if got := uses(s); !slices.Equal(got, []int64{1, 0, -1}) {
		t.Errorf("uses: got %v, want write 1, write 0, read", got)
	}
}

// A posted write that was refused must not end well, and nothing is done behind it.
func testPostedRefusal(t *testing.T, ex hw.Executor) {
	s := &Sink{T: t, Answer: postable(true)}
	out := s.Run(t.Context(), ex, Exec("", Drive))
	if out.Died || out.Exception == nil || out.Exception.Class != "OSError" || out.Refusal != 77 {
		t.Errorf("refused: got %+v (exception %+v), want OSError of refusal 77", out, out.Exception)
	}
	if got := uses(s); !slices.Equal(got, []int64{1}) {
		t.Errorf("uses: got %v, want the refused write alone", got)
	}
	out, _ = run(t, ex, Exec("", Hello))
	wellDone(t, out)
}

// Behind the OSError the program goes on.
func testPostedHealed(t *testing.T, ex hw.Executor) {
	s := &Sink{T: t, Answer: postable(true)}
	wellDone(t, s.Run(t.Context(), ex, Exec("", Heal)))
	if got := uses(s); !slices.Equal(got, []int64{1, 0}) {
		t.Errorf("uses: got %v, want the refused write and the one of the handler", got)
	}
}
