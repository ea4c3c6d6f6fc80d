package repl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/pal-terminal/pal/limits"
)

// history is the lines typed, oldest first, kept in a file from one session to the next. It is used by one goroutine.
type history struct {
	lines []string
	file  *os.File // nil when nothing is kept
	err   error    // the first that adding met
}

// openHistory reads the newest lines of the file and rewrites it to hold no more than those. An empty name keeps nothing.
func openHistory(name string) (*history, error) {
	h := &history{}
	if name == "" {
		return h, nil
	}
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		h.remember(line)
	}
	if h.file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
		return nil, fmt.Errorf("open the history: %w", err)
	}
	for _, line := range h.lines {
		h.write(line)
	}
	return h, h.err
}

// remember takes a line into memory, unless it is empty or the same as the one before.
func (h *history) remember(line string) bool {
	line = strings.TrimRight(line, " \t\r")
	if line == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return false
	}
	h.lines = append(h.lines, line)
	if len(h.lines) > limits.HistoryLines {
		h.lines = h.lines[1:]
	}
	return true
}

func (h *history) write(line string) {
	if h.file == nil || h.err != nil {
		return
	}
	if _, err := fmt.Fprintln(h.file, line); err != nil {
		h.err = fmt.Errorf("keep the history: %w", err)
	}
}

// Add takes a line that was entered.
func (h *history) Add(line string) {
	if h.remember(line) {
		h.write(h.lines[len(h.lines)-1])
	}
}

// Len returns how many lines there are.
func (h *history) Len() int { return len(h.lines) }

// At returns a line; 0 is the newest.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }

func (h *history) close() error {
	if h.file == nil {
		return nil
	}
	return errors.Join(h.err, h.file.Close())
}
