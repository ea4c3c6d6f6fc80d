package show

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrNobody says that there is no person to ask.
var ErrNobody = errors.New("nobody is here to ask")

// Confirm asks the person at the keyboard a question; anything but y or yes is no. Where input does not come from a keyboard nobody is
// asked: a pipe must not be taken for consent.
func Confirm(ctx context.Context, keys io.Reader, screen io.Writer, question string) (bool, error) {
	if !IsTerminal(keys) {
		return false, ErrNobody
	}
	if _, err := fmt.Fprintf(screen, "%s [y/N] ", question); err != nil {
		return false, err
	}
	return answer(ctx, keys)
}

// answer reads one line. A read from a keyboard cannot be called back: after the end of the context it is left to the end of the process.
func answer(ctx context.Context, keys io.Reader) (bool, error) {
	type typed struct {
		line string
		err  error
	}
	got := make(chan typed, 1)
	go func() {
		line, err := bufio.NewReader(keys).ReadString('\n')
		got <- typed{line, err}
	}()
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case t := <-got:
		if t.err != nil && !errors.Is(t.err, io.EOF) {
			return false, t.err
		}
		word := strings.ToLower(strings.TrimSpace(t.line))
		return word == "y" || word == "yes", nil
	}
}
