package repl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"golang.org/x/term"
)

// A Ctrl-C that comes before the code is on its way ends the statement and not the prompt; the end of the command ends both.
func TestInterruptKeepsThePrompt(t *testing.T) {
	var screen bytes.Buffer
	tty, fingers := io.Pipe()
	t.Cleanup(func() { fingers.Close() }) // which ends the keyboard's goroutine
	keys := newKeyboard(tty, t.Context().Done())
	p := &session{keys: keys, editor: term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{strings.NewReader(""), &screen}, prompt)}
	p.run = func(ctx context.Context, _ string, _ io.Writer) error {
		keys.take([]byte{ctrlC}, nil)
		return fmt.Errorf("exec: %w", ctx.Err())
	}
	if err := p.statement(t.Context(), "x"); err != nil || !strings.Contains(screen.String(), "KeyboardInterrupt") {
		t.Errorf("got %v and %q on the screen, want KeyboardInterrupt there", err, screen.String())
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := p.statement(ended, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: got %v", err)
	}
	p.run = func(context.Context, string, io.Writer) error { return io.ErrUnexpectedEOF }
	if err := p.statement(t.Context(), "x"); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("lost connection: got %v", err)
	}
}
