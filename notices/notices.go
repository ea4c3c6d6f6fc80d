// Package notices helps to tell people what happens: the texts of programs that ask for approval, and how many refusals are told.
//
// # Model
//
// [Sources] keeps the text of what runs for as long as it runs. [Denials] lets limits.DenialsTold through in a second and counts the rest, so
// that a program that is refused in a loop washes nothing away.
//
// It refuses nothing and moves nothing.
package notices

import (
	"sync"
	"time"

	"github.com/pal-terminal/pal/limits"
)

// Sources holds the text of code that runs, by its hash, for people who are asked to approve what it does.
// The zero value is ready; its methods are safe for concurrent use.
type Sources struct {
	mu   sync.Mutex // guards code
	code map[[32]byte]*source
}

type source struct {
	text string
	runs int
}

// Add keeps a text until the function that it returns is called.
func (s *Sources) Add(hash [32]byte, text string) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.code == nil {
		s.code = map[[32]byte]*source{}
	}
	o := s.code[hash]
	if o == nil {
		o = &source{text: text}
		s.code[hash] = o
	}
	o.runs++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if o.runs--; o.runs == 0 {
			delete(s.code, hash)
		}
	}
}

// Text returns a text that is kept, "" for none.
func (s *Sources) Text(hash [32]byte) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.code[hash]; o != nil {
		return o.text
	}
	return ""
}

// Denials bounds how many refusals are told. The zero value is ready; it is safe for concurrent use.
type Denials struct {
	mu     sync.Mutex // guards what follows
	since  time.Time
	told   int
	silent int
}

// Tell reports whether one more refusal is told now, and how many were not since the last that was.
func (d *Denials) Tell(now time.Time) (notTold int, tell bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now.Sub(d.since) >= time.Second {
		d.since, d.told = now, 0
	}
	if d.told++; d.told > limits.DenialsTold {
		d.silent++
		return 0, false
	}
	notTold, d.silent = d.silent, 0
	return notTold, true
}
