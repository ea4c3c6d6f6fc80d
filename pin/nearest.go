package pin

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/limits"
)

// offered is how many pins a refusal offers instead.
const offered = 3

// nearest returns the agent-owned pins whose number or name is closest to name.
func (t *Table) nearest(name string) []string { return t.nearestThatCan(name, ^board.Caps(0)) }

// lines is what a pin can do as a line of a bus.
const lines = board.CapI2C | board.CapSPI | board.CapUART

// rank orders pins that are offered for a use: first those that do no harm, then what switches power, last lines that are wired to a bus,
// whatever they can do besides. Where a name was misspelt (want is everything) the name alone decides.
func rank(b *board.Pin, want board.Caps) int {
	switch {
	case want == ^board.Caps(0):
		return 0
	case b.Can.Any(lines) && !want.Any(lines):
		return 2
	case b.Output() && b.Danger != board.DangerLow:
		return 1
	}
	return 0
}

// nearestThatCan returns those of them that can do one of want.
func (t *Table) nearestThatCan(name string, want board.Caps) []string {
	if len(name) > limits.NameBytes {
		return nil
	}
	type candidate struct {
		label    string
		rank     int
		distance int
	}
	var list []candidate
	number, numeric := board.ID(name).Number()
	if i, ok := t.d.Lookup(name); ok && !numeric {
		number, numeric = t.d.Pins[i].ID.Number()
	}
	for i := range t.d.Pins {
		b := &t.d.Pins[i]
		if b.Owner != board.OwnerAgent || !b.Can.Any(want) || b.Label() == name {
			continue
		}
		distance := edits(strings.ToLower(name), strings.ToLower(b.Label()))
		if n, ok := b.ID.Number(); ok && numeric {
			distance = max(n-number, number-n)
		}
		list = append(list, candidate{b.Label(), rank(b, want), distance})
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.distance, b.distance))
	})
	var labels []string
	for _, c := range list[:min(offered, len(list))] {
		labels = append(labels, c.label)
	}
	return labels
}

// edits counts the bytes to change, drop or add to turn a into b.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
