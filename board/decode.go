package board

import (
	"errors"
	"time"
)

var rateUnits = map[string]time.Duration{"s": time.Second, "min": time.Minute, "h": time.Hour}

var errUnfinished = errors.New("board: reader has no body yet")

// Load reads a board file and the board.py it names.
func Load(path string) (*Description, error) { return nil, errUnfinished }

// Parse reads a board description.
func Parse(name string, src, boardPy []byte) (*Description, error) { return nil, errUnfinished }

// Builtin returns a built-in board.
func Builtin(name string) (*Description, error) { return nil, errUnfinished }

// Names returns the built-in boards.
func Names() []string { return nil }
