package show

import (
	"fmt"
	"io"
	"time"
)

// What takes no longer than a moment is not shown, nor more often than people can read.
const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

// Progress shows how far something is, on a line that goes when it ends. It is for one goroutine.
type Progress struct {
	w     io.Writer // nil when nobody looks
	total int
	what  string
	next  time.Time
	shown bool
}

// NewProgress begins to show on w something that has total parts; on what is no person's screen nothing is shown.
func NewProgress(w io.Writer, total int, what string) *Progress {
	p := &Progress{total: total, what: what, next: time.Now().Add(progressAfter)}
	if IsTerminal(w) {
		p.w = w
	}
	return p
}

// At tells how many parts are done.
func (p *Progress) At(done int) {
	if now := time.Now(); p.w != nil && now.After(p.next) {
		p.next, p.shown = now.Add(progressEvery), true
		_, _ = fmt.Fprintf(p.w, "\r%d of %d %s (%d %%)\x1b[K", done, p.total, p.what, done*100/max(p.total, 1)) // what fails here has nowhere to be told
	}
}

// End clears the line. It may be called again.
func (p *Progress) End() {
	if p.shown {
		_, _ = io.WriteString(p.w, "\r\x1b[K")
		p.shown = false
	}
}
