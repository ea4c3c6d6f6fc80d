package show

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// A pipe is nobody: what comes through it is consent of no person. (test/script asks on a real terminal.)
func TestConfirmPipe(t *testing.T) {
	var screen strings.Builder
	yes, err := Confirm(t.Context(), strings.NewReader("y\n"), &screen, "sure?")
	if yes || !errors.Is(err, ErrNobody) || screen.Len() != 0 {
		t.Errorf("got %v, %v, %q, want no, %v and nothing asked", yes, err, screen.String(), ErrNobody)
	}
}

func TestAnswer(t *testing.T) {
	for typed, want := range map[string]bool{"y\n": true, " YES \n": true, "n\n": false, "": false, "y": true, "\n": false, "yellow\n": false, "n\ny\n": false} {
		if got, err := answer(t.Context(), strings.NewReader(typed)); got != want || err != nil {
			t.Errorf("%q: got %v, %v, want %v", typed, got, err, want)
		}
	}
}

// Ctrl-C at the question is no, at once.
func TestAnswerInterrupted(t *testing.T) {
	keys, typist := io.Pipe()
	defer typist.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if yes, err := answer(ctx, keys); yes || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v, want no and %v", yes, err, context.Canceled)
	}
}
