package show

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pal-terminal/pal/protocol"
)

// Live prints output as it comes. A result repeats all of it, so when a piece was lost on the way printing pauses
// there and goes on with the result.
type Live struct {
	Stdout, Stderr io.Writer
	seen           [2]strings.Builder // what was printed to stdout and stderr
	next           int
	gap            bool
	err            error
}

// Take prints a piece of output, in the order of their coming.
func (l *Live) Take(o *protocol.Output) {
	l.gap = l.gap || o.Seq != l.next
	l.next++
	if !l.gap {
		l.print(o.Stream == "stderr", o.Data)
	}
}

func (l *Live) print(stderr bool, data string) {
	w, seen := l.Stdout, &l.seen[0]
	if stderr {
		w, seen = l.Stderr, &l.seen[1]
	}
	seen.WriteString(data)
	if _, err := io.WriteString(w, data); err != nil {
		l.err = errors.Join(l.err, fmt.Errorf("print output: %w", err))
	}
}

// Finish prints what has not been printed yet.
func (l *Live) Finish(r *protocol.Result) error {
	if rest, ok := strings.CutPrefix(r.Stdout, l.seen[0].String()); ok {
		l.print(false, rest)
	}
	if rest, ok := strings.CutPrefix(r.Stderr, l.seen[1].String()); ok {
		l.print(true, rest)
	}
	return l.err
}
