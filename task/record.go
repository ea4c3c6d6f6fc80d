package task

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// The keys of records.
const (
	marksKey   = "tasks"
	taskPrefix = "task-"
	badPrefix  = "damaged-" // before the key of what could not be understood
	version    = 1
)

// record is a persistent task on disk.
type record struct {
	Version   int            `json:"version"`
	ID        string         `json:"id"`
	Brief     protocol.Brief `json:"brief"`
	Code      string         `json:"code"`
	Owner     Owner          `json:"owner"`
	CreatedNS int64          `json:"created_ns"`
	AnchorNS  int64          `json:"anchor_ns"`      // where the phase of an interval and after_ms count from
	Unset     bool           `json:"unset,omitzero"` // the clock was not set then
	Held      string         `json:"held,omitzero"`  // it was made under this hold, which a person ends
}

func (r *record) anchor() time.Time { return time.Unix(0, r.AnchorNS) }

func (r *record) sha256() string {
	sum := sha256.Sum256([]byte(r.Code))
	return hex.EncodeToString(sum[:])
}

// mark is how far a persistent task came.
type mark struct {
	HandledNS int64             `json:"handled_ns"`
	Runs      uint64            `json:"runs"` // of a task with an end, those booked
	Missed    map[string]uint64 `json:"missed,omitzero"`
	Failures  int               `json:"failures,omitzero"`
	Paused    string            `json:"paused,omitzero"`
	Holds     []string          `json:"holds,omitzero"`
	Ended     bool              `json:"ended,omitzero"` // its record is to be removed
}

// marks is the record of how far all came.
type marks struct {
	Version  int             `json:"version"`
	IDs      uint64          `json:"ids"` // none above is in use, or ever was
	NewestNS int64           `json:"newest_ns"`
	Tasks    map[string]mark `json:"tasks"`
}

func (j *job) mark(ended bool) mark {
	mk := mark{HandledNS: j.handled.UnixNano(), Runs: j.runs, Missed: maps.Clone(j.missed), Failures: j.failures, Holds: sorted(j.holds), Ended: ended}
	if j.max > 0 {
		mk.Runs = max(j.runs, j.booked)
	}
	if len(j.owed) > 0 { // what is owed was not handled
		mk.HandledNS = j.owed[0].UnixNano() - 1
	}
	if j.paused {
		mk.Paused = cut(j.reason, limits.TaskMarkReason) // all marks together are one record
	}
	return mk
}

// cut makes a text fit, and text.
func cut(text string, most int) string {
	if len(text) > most {
		text = text[:most]
	}
	return strings.ToValidUTF8(text, "")
}

// marks takes stock. ids is the number of ids to have on disk.
func (m *machine) marks(ids uint64) marks {
	all := marks{Version: version, IDs: ids, NewestNS: m.newest.UnixNano(), Tasks: maps.Clone(m.ghosts)}
	m.written = m.newest
	for _, j := range m.list {
		if j.persistent && j.end == "" {
			all.Tasks[j.ID] = j.mark(false)
		}
	}
	return all
}

func decode(raw []byte, v any) error {
	return json.UnmarshalRead(bytes.NewReader(raw), v, json.RejectUnknownMembers(true))
}

// loaded is what was found on disk.
type loaded struct {
	marks marks
	known bool // marks could be read, or there are no tasks
	tasks []record
	plans []*plan
	bad   map[string]string // key: problem
}

// load reads the records of tasks and leaves others alone.
func (o *Options) load() loaded {
	l := loaded{bad: map[string]string{}}
	raw, found := o.Loaded[marksKey]
	if found {
		if err := decode(raw, &l.marks); err != nil || l.marks.Version != version {
			l.marks = marks{}
			l.bad[marksKey] = fmt.Sprintf("not the state of tasks, version %d: %v", version, err)
		} else {
			l.known = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(o.Loaded)) {
		id, ours := strings.CutPrefix(key, taskPrefix)
		if !ours {
			continue
		}
		if n, err := strconv.ParseUint(id, 10, 63); err == nil && n > l.marks.IDs {
			l.marks.IDs = n + limits.TaskIDs // the counter is lost, or older than this task
		}
		var rec record
		err := decode(o.Loaded[key], &rec)
		if err == nil && (rec.Version != version || rec.ID != id || order(id) == 0) {
			err = fmt.Errorf("version %d, id %q", rec.Version, rec.ID)
		}
		if err == nil {
			var p *plan
			p, err = o.planOf(&rec.Brief, time.Time{})
			if err == nil && !p.persistent {
				err = errors.New("it is not a persistent task")
			}
			if err == nil {
				l.tasks, l.plans = append(l.tasks, rec), append(l.plans, p)
				continue
			}
		}
		l.bad[key] = err.Error()
	}
	l.known = l.known || !found && len(l.tasks) == 0
	return l
}

// order is the place of an id in the order of registration; 0 for what is no id.
func order(id string) uint64 {
	n, err := strconv.ParseUint(id, 10, 63)
	if err != nil || idOf(n) != id {
		return 0
	}
	return n
}

func idOf(n uint64) string { return fmt.Sprintf("%03d", n) }
