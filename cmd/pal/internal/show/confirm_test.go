package show

import (
	"errors"
	"strings"
	"testing"
)

// A pipe is nobody: what comes through it is consent of no person. (test/script asks on a real terminal.)
func TestConfirmPipe(t *testing.T) {
	var screen strings.Builder
	yes, err := Confirm(strings.NewReader("y\n"), &screen, "sure?")
	if yes || !errors.Is(err, ErrNobody) || screen.Len() != 0 {
		t.Errorf("got %v, %v, %q, want no, %v and nothing asked", yes, err, screen.String(), ErrNobody)
	}
}
