package board

import (
	"fmt"
	"strings"
)

// Problem is one thing wrong with a board file.
type Problem struct {
	File string
	Pos
	Message string
}

// Error returns "file:line:col: message".
func (p Problem) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Col, p.Message)
}

// Problems is everything wrong with a board file, in the order of the file.
type Problems []Problem

// Error returns one problem a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}
