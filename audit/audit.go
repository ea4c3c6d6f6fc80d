// Package audit is the record of what was asked of a terminal and what came of it.
//
// # Model
//
// A [Log] is a chain of entries in segment files. Each is one line: the SHA-256 of the line before it and of its own text, and
// the text, one JSON object. Every so often a checkpoint is written: the root of a Merkle tree over all entries (RFC 6962, as
// transparency logs build it), signed with a key of the terminal. A segment starts with what is needed to verify it without those
// before it, so that old ones can be removed.
//
// Whoever is about to act appends an intent and waits for its [Receipt] before anything is driven; what came of it is appended
// before the client hears of it. One write and one sync serve all who wait at the same time. What nobody waits for is
// appended lazily and synced within limits.AuditSync.
//
// # What it refuses
//
// To be ready without room: [Log.Ready] then names the reason and nothing may be actuated. It never blocks the e-stop, which asks
// nothing of it. Secrets are redacted before anything is written.
package audit

import (
	"context"
	"log/slog"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Kinds of entry.
const (
	KindIntent     = "intent"  // something is about to be done
	KindOutcome    = "outcome" // what came of the intent of the same trace
	KindEvent      = "event"   // the guard did or saw something by itself
	KindSegment    = "segment" // the start of a file: written by the log
	KindCheckpoint = "checkpoint"
)

// Entry is one entry of the log. Seq and TimeMS are set by the log.
type Entry struct {
	Seq    uint64         `json:"seq"` // from 1, without gaps
	TimeMS int64          `json:"time_ms"`
	Kind   string         `json:"kind"`
	Type   string         `json:"type,omitzero"` // of the request, or the name of the event
	Actor  string         `json:"actor,omitzero"`
	Class  string         `json:"class,omitzero"`
	Client string         `json:"client,omitzero"`
	ID     string         `json:"id,omitzero"` // of the request
	Trace  string         `json:"trace,omitzero"`
	Hash   string         `json:"request_sha256,omitzero"`
	Data   jsontext.Value `json:"data,omitzero"` // an object
}

// Options of a Log.
type Options struct {
	Terminal string           // its name stands in checkpoints
	Now      func() time.Time // time.Now when nil
	Log      *slog.Logger
	// Secrets are words that must not be written as they stand, asked for each entry.
	Secrets func() []string
	// Replay is called by Open with each entry of the newest limits.AuditReplay bytes, in order.
	Replay func(Entry)
	Since  time.Time // how far back Open looks for intents without an outcome
	// Damaged hears what is wrong with what Open finds.
	Damaged func(problem string)
	// OnState hears when the log can no longer take entries, and with nil when it can again. It must not block.
	OnState func(error)

	SegmentBytes int64 // limits.AuditSegmentBytes when 0
	Segments     int   // so many full ones are kept, limits.AuditSegments when 0
}

// Receipt tells when an entry is durable.
type Receipt struct {
	done  chan struct{}
	err   error
	hurry func() // has the writer begin at once; nil when it has been told already
}

// Wait returns nil when the entry is durable, an error when it will not be, or ctx's. It is what makes the writer begin: an entry that
// nobody waits for goes with the next one that somebody does, or within limits.AuditSync. So an intent that is followed by its
// outcome before anything was driven costs no sync of its own.
func (r *Receipt) Wait(ctx context.Context) error {
	if r.hurry != nil {
		r.hurry()
	}
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Head is the end of the log at one moment: what is kept elsewhere to notice a log that was set back.
type Head struct {
	Size uint64 // entries
	Hash string // of the chain, in hexadecimal
	Note string // the newest signed checkpoint; empty before the first
}

// Report is what Verify found.
type Report struct {
	Entries     uint64 // verified
	First, Last uint64 // seq of the oldest and newest
	Checkpoints int
	Head        Head
	Bad         uint64 // seq of the first entry that is wrong or missing, 0 when Problem is empty
	Problem     string // what is wrong with it, empty when all is well
}
