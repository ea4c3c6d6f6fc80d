package show_test

import (
	"strings"
	"testing"

	"github.com/pal-terminal/pal/cmd/pal/internal/show"
	"github.com/pal-terminal/pal/protocol"
)

// However much of the stream is lost, everything that the result holds must be printed once and in order.
func TestLiveOutput(t *testing.T) {
	out := func(seq int, stream, data string) *protocol.Output {
		return &protocol.Output{Seq: seq, Stream: stream, Data: data}
	}
	result := &protocol.Result{Stdout: "one two three ", Stderr: "oops "}
	for _, c := range []struct {
		name   string
		stream []*protocol.Output
	}{
		{"nothing_streamed", nil},
		{"all", []*protocol.Output{out(0, "stdout", "one "), out(1, "stderr", "oops "), out(2, "stdout", "two three ")}},
		{"gap", []*protocol.Output{out(0, "stdout", "one "), out(2, "stdout", "three ")}},
		{"gap_in_the_other_stream", []*protocol.Output{out(0, "stdout", "one "), out(1, "stdout", "two "), out(3, "stderr", "ps ")}},
		{"first_lost", []*protocol.Output{out(1, "stdout", "two "), out(2, "stdout", "three ")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			l := show.Live{Stdout: &stdout, Stderr: &stderr}
			for _, o := range c.stream {
				l.Take(o)
			}
			if err := l.Finish(result); err != nil {
				t.Fatal(err)
			}
			if stdout.String() != result.Stdout || stderr.String() != result.Stderr {
				t.Errorf("printed: got %q and %q, want %q and %q", stdout.String(), stderr.String(), result.Stdout, result.Stderr)
			}
		})
	}
}
