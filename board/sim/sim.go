// Package sim is the simulated bench: a board.Driver over registers, with devices wired to them.
package sim

import (
	"errors"

	"github.com/pal-terminal/pal/board"
)

// Options of a Board. The zero value works.
type Options struct {
	Seed uint64 // of noise waveforms
}

// Board is a simulated board. It implements board.Driver, board.Immediate and board.Simulator.
type Board struct{ board.Driver }

// New builds the simulated board that d describes.
func New(d *board.Description, o Options) (*Board, error) {
	return nil, errors.New("sim: board has no body yet")
}
