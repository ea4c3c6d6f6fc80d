package store

import (
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/pal-terminal/pal/limits"
)

// LatchState is what the latch of the e-stop says.
type LatchState struct {
	Set    bool
	Reason string
	Actor  string
	At     time.Time
	// Damaged tells why the file could not be believed; then the latch is set.
	Damaged string
}

// Latch is the e-stop on disk: one sector, written in place, so that it can be set when the disk is full. Whatever is not clearly
// clear is set. Its methods are safe for concurrent use and take as long as the disk.
type Latch struct {
	disk  Disk
	name  string
	mu    sync.Mutex
	file  File // stays open: setting needs no descriptor
	state LatchState
	sure  bool // the state is durable
}

// OpenLatch finds the latch. One that is not there is set when it is expected, because something else of this terminal is there, and
// else made, clear. The latch is there to be used also with an error, which tells that the disk did not take its state: then
// it is set, and Set and Clear try again.
func OpenLatch(d Disk, name string, expected bool) (*Latch, LatchState, error) {
	l := &Latch{disk: d, name: name}
	text, problem := readText(d, name)
	var err error
	if problem == missing && !expected {
		if err = Replace(d, name, l.image(LatchState{})); err != nil {
			problem = "it cannot be made: " + err.Error()
		} else {
			text, problem = clearText, ""
		}
	}
	found := parseLatch(text, problem)
	l.state, l.sure = found, !found.Set
	l.file, _ = d.Open(name, false) // write tries again
	if found.Damaged != "" {
		l.state = LatchState{Set: true, Reason: "the file of the e-stop was damaged: " + found.Damaged}
	}
	if found.Set && err == nil {
		err = l.write(l.state) // again: what was read may be torn, or in memory only
	}
	return l, found, err
}

// Set sets the latch; one that is set keeps its first reason. When it returns nil, that is durable; else call it again.
func (l *Latch) Set(reason, actor string, at time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.state.Set {
		l.state, l.sure = LatchState{Set: true, Reason: reason, Actor: actor, At: at}, false
	}
	if l.sure {
		return nil
	}
	return l.write(l.state)
}

// Clear clears the latch. When it returns nil, that is durable. After an error the latch is set, as far as the disk obeys.
func (l *Latch) Clear() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.state.Set {
		return nil
	}
	if err := l.write(LatchState{}); err != nil {
		return errors.Join(err, l.write(l.state))
	}
	l.state = LatchState{}
	return nil
}

func (l *Latch) write(s LatchState) error {
	if f, err := l.disk.Open(l.name, true); err == nil { // the file may have been removed, or the disk read-only before
		if l.file != nil {
			l.file.Close() //nolint:errcheck // it was synced or is given up
		}
		l.file = f
	} else if l.file == nil {
		return err
	}
	err := overwrite(l.file, l.image(s))
	if err == nil {
		err = l.disk.Sync("")
	}
	l.sure = err == nil
	return err
}

const clearText = "clear\n"

func (l *Latch) image(s LatchState) []byte {
	if !s.Set {
		return sealText(l.name, clearText)
	}
	actor := strings.ReplaceAll(cut(s.Actor, limits.NameBytes), "\n", " ")
	return sealText(l.name, strings.Join([]string{"set", s.At.UTC().Format(time.RFC3339Nano), actor, s.Reason}, "\n"))
}

func parseLatch(text, problem string) LatchState {
	lines := strings.SplitN(text, "\n", 4)
	switch {
	case problem != "":
		return LatchState{Set: true, Damaged: problem}
	case text == clearText:
		return LatchState{}
	case len(lines) == 4 && lines[0] == "set":
		if at, err := time.Parse(time.RFC3339Nano, lines[1]); err == nil {
			return LatchState{Set: true, At: at, Actor: lines[2], Reason: strings.ToValidUTF8(lines[3], "")}
		}
	}
	return LatchState{Set: true, Damaged: "it says neither set nor clear"}
}

func cut(s string, most int) string { return strings.ToValidUTF8(s[:min(len(s), most)], "") }
