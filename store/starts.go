package store

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pal-terminal/pal/limits"
)

// How a run ended. Crash and Power are found out by the next.
const (
	Shutdown = "shutdown" // orderly
	Watchdog = "watchdog" // it hung
	Crash    = "crash"    // without a word, and the kernel ran on
	Power    = "power"    // without a word, and the kernel started anew
)

// Previous is the run before this.
type Previous struct {
	Ending  string // empty when there was none
	Began   time.Time
	Damaged string // why its file could not be believed
}

// Starts counts the starts that failed: those that ended, other than orderly, before they were stable. Its methods are safe for
// concurrent use; after an error their effect is made up for by the next that succeeds.
type Starts struct {
	disk    Disk
	name    string
	mu      sync.Mutex
	boot    string
	began   time.Time
	count   int // what the next start finds when this one dies
	orderly int // what it finds when this one ends
}

// OpenStarts returns the counter in a file.
func OpenStarts(d Disk, name string) *Starts { return &Starts{disk: d, name: name} }

// Begin counts this start as failed until something better is known, and tells how many failed before it, in a row, and how the
// run before it ended. bootID is what the kernel calls its own start. A damaged file counts as one failed start. What is
// returned with an error is right; the error tells that this start is not counted.
func (s *Starts) Begin(bootID string, now time.Time) (failed int, previous Previous, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.boot, s.began = cut(bootID, limits.NameBytes), now
	text, problem := readText(s.disk, s.name)
	failed, previous = parseStarts(text, problem, s.boot)
	s.count, s.orderly = failed+1, failed
	return failed, previous, s.write("")
}

// Stable tells that the start succeeded. In safe mode it has not: there only Leave clears the counter.
func (s *Starts) Stable() error {
	s.mu.Lock()
	safeMode := s.orderly >= limits.FailedStarts
	s.mu.Unlock()
	if safeMode {
		return nil
	}
	return s.Leave()
}

// Leave clears the counter by a human's word.
func (s *Starts) Leave() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count, s.orderly = 0, 0
	return s.write("")
}

// End tells how this run ends. An orderly end makes no start a failed one.
func (s *Starts) End(cause string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cause == Shutdown {
		s.count = s.orderly
	}
	return s.write(cut(cause, limits.NameBytes))
}

const startsText = "%d %q %q %d\n"

// write replaces the file, or, when there is no room for another, what is in it: starts that fail on a full disk count too.
func (s *Starts) write(ending string) error {
	content := sealText(s.name, fmt.Sprintf(startsText, s.count, ending, s.boot, s.began.Unix()))
	err := Replace(s.disk, s.name, content)
	if err == nil {
		return nil
	}
	f, openErr := s.disk.Open(s.name, false)
	if openErr == nil && errors.Join(overwrite(f, content), f.Close(), s.disk.Sync("")) == nil {
		return nil
	}
	return err
}

func parseStarts(text, problem, boot string) (failed int, p Previous) {
	var began int64
	var ran string
	fmt.Sscanf(text, startsText, &failed, &p.Ending, &ran, &began) //nolint:errcheck // the text made of it tells
	if problem == "" && (failed < 0 || fmt.Sprintf(startsText, failed, p.Ending, ran, began) != text) {
		problem = "its text is damaged"
	}
	switch {
	case problem == missing:
		return 0, Previous{}
	case problem != "":
		return 1, Previous{Ending: Crash, Damaged: problem}
	case p.Ending == "" && ran == boot:
		p.Ending = Crash
	case p.Ending == "":
		p.Ending = Power
	}
	p.Began = time.Unix(began, 0)
	return failed, p
}
