// Package boardfile helps people with board descriptions: it finds what is wrong with one, begins a new one, and knows a first line of
// code for one. It drives nothing, and never overwrites a file.
package boardfile

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/boardpy"
	"github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/board/sim"
)

// Finding is what lint has to say about a file.
type Finding struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"` // 0 when the file could not be read
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

// String is the finding as compilers write theirs.
func (f Finding) String() string {
	switch {
	case f.Line == 0:
		return f.File + ": " + f.Message
	case f.Column == 0:
		return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message)
	default:
		return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
	}
}

// Lint loads a board file, which tells every fault of the description, builds its simulated devices and then looks at its board.py.
func Lint(file string) []Finding {
	findings := []Finding{}
	d, err := load.File(file)
	if err == nil && d.Driver.Kind == "sim" {
		// Only the bench knows what may be said of a device.
		var bench *sim.Board
		if bench, err = sim.New(d, sim.Options{}); err == nil {
			err = bench.Close()
		}
	}
	if problems, ok := errors.AsType[board.Problems](err); ok {
		for _, p := range problems {
			findings = append(findings, Finding{File: p.File, Line: p.Line, Column: p.Col, Message: p.Message})
		}
		return findings
	}
	if err != nil {
		return append(findings, Finding{File: file, Message: err.Error()})
	}
	for _, f := range boardpy.Lint(d.BoardPy) {
		findings = append(findings, Finding{File: filepath.Join(filepath.Dir(file), d.BoardPyName), Line: f.Line, Message: f.Message})
	}
	return findings
}

// FirstCode returns a line that works on the board and shows something: it switches an output of low danger, a light when
// there is one, or tells the names that programs have where they may not drive pins themselves.
func FirstCode(d *board.Description) string {
	var best *board.Pin
	for i := range d.Pins {
		p := &d.Pins[i]
		free := p.Owner == board.OwnerAgent && p.Can.Has(board.CapOut) && p.Danger == board.DangerLow && p.Requires == nil
		if free && d.Mode == board.ModeOpen && (best == nil || p.Name == "LED") {
			best = p
		}
	}
	if best == nil {
		return "dir()"
	}
	id := string(best.ID)
	if _, number := best.ID.Number(); !number {
		id = strconv.Quote(id)
	}
	return fmt.Sprintf("from machine import Pin; Pin(%s, Pin.OUT).on()", id)
}
