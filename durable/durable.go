// Package durable opens what of a terminal survives a loss of power, in the order in which a start needs it, and ends it.
//
// # Model
//
// [Open] comes before anything is driven: it tells whether the e-stop was set and how the last run ended. [State.Load] comes when every
// output is safe: it opens the records and the audit log. [State.Fill] gives both to the door, and [State.Close] writes, last of all,
// that this run ended in order.
//
// # What it refuses
//
// Nothing that is damaged stops a start: it is put aside and told. A latch that cannot be read counts as set; an audit log that
// cannot be written leaves a terminal that drives nothing.
package durable

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pal-terminal/pal/answers"
	"github.com/pal-terminal/pal/approval"
	"github.com/pal-terminal/pal/audit"
	"github.com/pal-terminal/pal/core"
	"github.com/pal-terminal/pal/ledger"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/store"
)

// Names in the folder.
const (
	latchFile     = "estop"
	startsFile    = "starts"
	recordsFolder = "records"
	auditFolder   = "audit"
)

// boardRecord begins the key of a board.py that was applied to the running terminal; the mode follows. What an agent may apply in open mode
// must not be what alone may drive when a person has put the board into engineering mode.
const boardRecord = "board-py-"

// Options of a State. Disk is required.
type Options struct {
	Disk     store.Disk
	Terminal string // its name
	NoAudit  bool
	Secrets  func() []string // words that must not be written as they stand
	Log      *slog.Logger
	Emit     func(name string, data map[string]any) // publishes an event
}

// State is what survives. Its methods are for one goroutine.
type State struct {
	Failed int            // starts that failed before this one
	Before store.Previous // the run before this one
	Ledger *ledger.Ledger

	o       Options
	latch   *store.Latch
	found   store.LatchState
	starts  *store.Starts
	records *store.Records
	loaded  map[string][]byte
	answers *answers.Store
	log     *audit.Log
	damaged []string // to be told when there is somebody to tell
}

// Open finds out whether the e-stop was set and how the last run ended.
func Open(o Options) (s *State, err error) {
	s = &State{o: o, answers: answers.New()}
	s.Ledger = ledger.New(s.answers)
	known, err := o.Disk.List("")
	if err != nil {
		return nil, fmt.Errorf("look at what was kept: %w", err)
	}
	known = slices.DeleteFunc(known, func(name string) bool { return name == latchFile+".new" }) // a very first start that was cut
	if s.latch, s.found, err = store.OpenLatch(o.Disk, latchFile, len(known) > 0); err != nil {
		s.found = store.LatchState{Set: true, Reason: "the latch of the e-stop cannot be read: " + err.Error(), At: time.Now()}
	}
	s.note(latchFile, s.found.Damaged)
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		boot = []byte("unknown")
	}
	s.starts = store.OpenStarts(o.Disk, startsFile)
	if s.Failed, s.Before, err = s.starts.Begin(strings.TrimSpace(string(boot)), time.Now()); err != nil {
		s.note(startsFile, err.Error())
	}
	s.note(startsFile, s.Before.Damaged)
	return s, nil
}

// note keeps what is to be told of damage.
func (s *State) note(what, problem string) {
	if problem != "" {
		s.damaged = append(s.damaged, what+": "+problem)
	}
}

// Stopped is the e-stop that was set when the last run ended, nil when it was not.
func (s *State) Stopped() *pin.Latched {
	if !s.found.Set {
		return nil
	}
	return &pin.Latched{Reason: s.found.Reason, Actor: s.found.Actor, At: s.found.At}
}

// Load opens the records and the audit log.
func (s *State) Load() (err error) {
	if s.records, s.loaded, err = store.OpenRecords(s.o.Disk, recordsFolder, s.note); err != nil {
		return fmt.Errorf("open the records: %w", err)
	}
	if s.o.NoAudit {
		s.Ledger.Start(nil, nil)
		return nil
	}
	var cut []audit.Entry
	s.log, cut, err = audit.Open(s.o.Disk, auditFolder, audit.Options{
		Terminal: s.o.Terminal, Log: s.o.Log, Replay: s.Ledger.Replay, Since: time.Now().Add(-limits.DedupWindow), Secrets: s.o.Secrets,
		OnState: s.auditState, Damaged: func(problem string) { s.note(auditFolder, problem) },
	})
	if err != nil {
		return fmt.Errorf("open the audit log: %w", err)
	}
	s.Ledger.Start(s.log, cut)
	return nil
}

// auditState tells that the audit log takes no entries, or takes them again.
func (s *State) auditState(err error) {
	s.Ledger.State(err)
	data := map[string]any{"what": "audit", "lost": err != nil}
	if err != nil {
		data["text"] = err.Error()
	}
	s.o.Emit("storage", data)
}

// Fill gives the door what survives, and tells of what was damaged.
func (s *State) Fill(cfg *core.Config) {
	cfg.Ledger, cfg.Answers, cfg.Latch, cfg.StoppedBy = s.Ledger, s.answers, s.latch, s.found.Actor
	cfg.Approvals = approval.New(approval.Options{Event: s.o.Emit})
	cfg.TaskList.Records, cfg.TaskList.Loaded = s.records, s.loaded
	record := boardRecord + cfg.Board.Mode.String()
	cfg.BoardPy, cfg.Apply = s.loaded[record], func(source []byte) error { return s.records.Put(record, source) }
	cause := "start"
	if s.Before.Ending != "" && s.Before.Ending != store.Shutdown {
		cause = s.Before.Ending
	}
	cfg.Boot = map[string]any{"cause": cause, "failed_starts": s.Failed}
	if !s.Before.Began.IsZero() {
		cfg.Boot["before_began_ms"] = s.Before.Began.UnixMilli()
	}
	cfg.SafeMode.Failed, cfg.SafeMode.Leave = s.Failed, s.starts.Leave
	for _, text := range s.damaged {
		s.o.Emit("store_damaged", map[string]any{"text": text})
	}
}

// Stable says that this start has not failed.
func (s *State) Stable() error { return s.starts.Stable() }

// Ending writes down how this run will have ended if nothing better follows; "" is that nobody knows.
func (s *State) Ending(cause string) error { return s.starts.End(cause) }

// Close ends the audit log and writes that the run ended in order.
func (s *State) Close() error {
	var err error
	if s.log != nil {
		err = s.log.Close()
	}
	return errors.Join(err, s.starts.End(store.Shutdown))
}
