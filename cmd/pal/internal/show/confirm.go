package show

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrNobody says that there is no person to ask.
var ErrNobody = errors.New("nobody is here to ask")

// Confirm asks the person at the keyboard a question; anything but y or yes is no. Where input does not come from a keyboard nobody is
// asked: a pipe must not be taken for consent.
func Confirm(keys io.Reader, screen io.Writer, question string) (bool, error) {
	if !IsTerminal(keys) {
		return false, ErrNobody
	}
	if _, err := fmt.Fprintf(screen, "%s [y/N] ", question); err != nil {
		return false, err
	}
	line, err := bufio.NewReader(keys).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	word := strings.ToLower(strings.TrimSpace(line))
	return word == "y" || word == "yes", nil
}
