// Package printed keeps what a program prints, within bounds, and hands it on in parts while it runs.
//
// # Model
//
// A [Text] has two streams. Of each the first Limit bytes are kept, cut between characters, and the rest is counted. With Stream set,
// what is kept is handed on as it comes, but for the start of a character whose rest may follow.
//
// It refuses nothing and knows nothing of who reads.
package printed

import "github.com/pal-terminal/pal/protocol"

// Text is what one program prints. It is for one goroutine.
type Text struct {
	Limit  int                              // bytes kept of each stream
	Stream func(stream string, part []byte) // gets each part; may be nil

	kept [2][]byte
	lost [2]int // bytes printed and not kept
	told [2]int // bytes of kept that were handed on
}

// Add takes what was printed; p is not kept.
func (t *Text) Add(stderr bool, p []byte) {
	i := 0
	if stderr {
		i = 1
	}
	kept := p[:min(len(p), max(0, t.Limit-len(t.kept[i])))]
	t.kept[i] = append(t.kept[i], kept...)
	t.lost[i] += len(p) - len(kept)
	t.stream(i, protocol.Incomplete(t.kept[i]))
}

// Lose counts bytes that were cut elsewhere.
func (t *Text) Lose(out, err int) {
	t.lost[0] += out
	t.lost[1] += err
}

// Finish counts what was cut elsewhere and hands on the rest. A character that was cut in two is left out; one that the program never
// finished stays.
func (t *Text) Finish(out, err int) {
	t.Lose(out, err)
	for i, text := range t.kept {
		if t.lost[i] > 0 {
			half := protocol.Incomplete(text)
			t.kept[i] = text[:len(text)-half]
			t.lost[i] += half
		}
		t.stream(i, 0)
	}
}

// stream hands on what was not yet, but for the last hold bytes.
func (t *Text) stream(i, hold int) {
	part := t.kept[i][t.told[i]:max(t.told[i], len(t.kept[i])-hold)]
	if t.Stream == nil || len(part) == 0 {
		return
	}
	t.told[i] += len(part)
	t.Stream([2]string{"stdout", "stderr"}[i], part)
}

// Out is standard output as text.
func (t *Text) Out() string { return protocol.Text(t.kept[0]) }

// Err is standard error as text.
func (t *Text) Err() string { return protocol.Text(t.kept[1]) }

// Dropped is how many bytes of both are missing.
func (t *Text) Dropped() int { return t.lost[0] + t.lost[1] }
