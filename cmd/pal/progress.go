package main

import (
	"fmt"
	"io"
	"time"
)

// Progress is shown to people only, when a thing takes long, and no more often than they can read.
const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

// progress shows on standard error how far something is, on a line that goes when it ends.
type progress struct {
	w     io.Writer // nil when nobody looks
	total int
	what  string
	next  time.Time
	shown bool
}

// progress begins to show something that has total parts.
func (a *app) progress(total int, what string) *progress {
	p := &progress{total: total, what: what, next: time.Now().Add(progressAfter)}
	if isTerminal(a.stderr) {
		p.w = a.stderr
	}
	return p
}

// at tells how many parts are done.
func (p *progress) at(done int) {
	if now := time.Now(); p.w != nil && now.After(p.next) {
		p.next, p.shown = now.Add(progressEvery), true
		_, _ = fmt.Fprintf(p.w, "\r%d of %d %s (%d %%)\x1b[K", done, p.total, p.what, done*100/max(p.total, 1)) // what fails here has nowhere to be told
	}
}

// end clears the line. It may be called again.
func (p *progress) end() {
	if p.shown {
		_, _ = io.WriteString(p.w, "\r\x1b[K")
		p.shown = false
	}
}
