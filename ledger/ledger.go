// Package ledger stands between the door and the audit log: it writes down what is about to be done and what came of it, and tells
// after a restart what was answered, so that nothing is done twice.
//
// # Model
//
// [Ledger.Intend] begins a [Work]; before the first drive its owner waits in [Work.Durable], and before the client hears of it in
// [Work.Done]. What nobody waits for (runs of tasks, what the guard does by itself) goes in lazily. [Ledger.Replay] reads the log
// as it was found at the start: a request with an outcome is remembered with its answer, one without as interrupted.
//
// # What it refuses
//
// To let anything be driven while the log has no room ([Ledger.Ready]). Without a log everything is allowed and nothing is
// remembered past this run: a person chose that.
package ledger

import (
	"context"
	"encoding/hex"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pal-terminal/pal/answers"
	"github.com/pal-terminal/pal/audit"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// Ledger writes to one log. Its methods are safe for concurrent use.
type Ledger struct {
	log     *audit.Log // nil: nothing is kept
	answers *answers.Store
	why     atomic.Pointer[string] // why the log takes nothing, nil when it does

	mu       sync.Mutex                // guards what follows, which is used while the log is replayed
	open     map[string]*answers.Entry // by trace: intents that have no outcome yet
	ids      map[string]*string
	Restored int // requests that are remembered from before
	Cut      []audit.Entry
}

// New returns a ledger whose log is opened next, with its Replay and State.
func New(a *answers.Store) *Ledger {
	return &Ledger{answers: a, open: map[string]*answers.Entry{}, ids: map[string]*string{}}
}

// Start begins to write to a log that was opened; nil keeps nothing. What the log holds without an outcome was cut off, and is
// answered so from here on.
func (l *Ledger) Start(log *audit.Log, cut []audit.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.log, l.Cut = log, cut
	for trace, e := range l.open {
		r := protocol.Refuse(l.ids[trace], &protocol.Error{
			Code: protocol.CodeInterrupted, Resource: trace,
			Message: "the terminal ended in the middle of this request; what it did is in the audit log, and it is not run again",
		})
		r.Trace = trace
		l.answers.Finish(e, answers.Written{Kept: answers.Encode(r), Keep: true}, time.Now())
	}
	l.open, l.ids = nil, nil
}

// State takes in whether the log can take entries; it is made for audit.Options.OnState.
func (l *Ledger) State(err error) {
	if err == nil {
		l.why.Store(nil)
		return
	}
	why := err.Error()
	l.why.Store(&why)
}

// Replay takes in one entry of before; it is made for audit.Options.Replay. It is remembered from now on, whatever the clock said then.
func (l *Ledger) Replay(e audit.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e.Kind {
	case audit.KindIntent:
		var hash [32]byte
		if n, err := hex.Decode(hash[:], []byte(e.Hash)); err != nil || n != len(hash) || e.ID == "" || e.Client == "" {
			return
		}
		entry, _, _ := l.answers.Begin(answers.Key{Actor: e.Actor, Client: e.Client, ID: e.ID}, hash, time.Now(), func([]byte) {})
		if entry != nil {
			l.open[e.Trace], l.ids[e.Trace] = entry, &e.ID
			l.Restored++
		}
	case audit.KindOutcome:
		var o outcome
		if entry := l.open[e.Trace]; entry != nil && json.Unmarshal(e.Data, &o) == nil {
			l.answers.Finish(entry, answers.Written{Kept: o.Answer, Keep: !o.Again}, time.Now())
			delete(l.open, e.Trace)
			delete(l.ids, e.Trace)
		}
	}
}

// outcome is the data of an outcome.
type outcome struct {
	Answer jsontext.Value `json:"answer"`
	Again  bool           `json:"again,omitzero"` // the request was not carried out and may be sent again
}

// Ready says why nothing may be driven now, nil when it may.
func (l *Ledger) Ready() *protocol.Error {
	why := l.why.Load()
	if why == nil && l.log != nil {
		if err := l.log.Ready(); err != nil {
			text := err.Error()
			why = &text
		}
	}
	if why == nil {
		return nil
	}
	return &protocol.Error{Code: protocol.CodeStorage, Rule: "audit.room", Message: "nothing may be driven while it cannot be recorded: " + *why}
}

// Work is one request on its way. The zero Work, of a ledger without a log, is always durable.
type Work struct {
	l       *Ledger
	receipt *audit.Receipt
	entry   audit.Entry
}

// Intend writes down that a request is about to be carried out. named is the client's own name, empty when it gave none: only ids
// of named clients mean anything after a restart.
func (l *Ledger) Intend(actor identity.Actor, named string, req *protocol.Request, trace string) Work {
	if l.log == nil {
		return Work{}
	}
	w := Work{l: l, entry: audit.Entry{Kind: audit.KindIntent, Type: req.Type, Actor: actor.Name, Class: string(actor.Class), Trace: trace}}
	if req.ID != nil && named != "" && !strings.HasPrefix(named, "\x00") {
		w.entry.Client, w.entry.ID = named, *req.ID
	}
	w.entry.Hash, w.entry.Data = hex.EncodeToString(req.Hash[:]), request(req)
	w.receipt = l.log.Append(w.entry)
	return w
}

// Durable waits until the intent is on the disk. When it is not, nothing may be driven.
func (w Work) Durable(ctx context.Context) *protocol.Error {
	if w.receipt == nil {
		return nil
	}
	if err := w.receipt.Wait(ctx); err != nil {
		return &protocol.Error{Code: protocol.CodeStorage, Rule: "audit.intent", Message: "nothing is driven that cannot be recorded first: " + err.Error()}
	}
	return w.l.Ready()
}

// Done writes down what came of it and waits until that is on the disk, or ctx ends: a disk that does not answer must not keep the
// answer for ever. again says that the request was not carried out and may be sent again.
func (w Work) Done(ctx context.Context, answer protocol.Answer, again bool) error {
	if w.receipt == nil {
		return nil
	}
	e := w.entry
	e.Kind, e.Data = audit.KindOutcome, encode(outcome{Answer: short(answer), Again: again})
	return w.l.log.Append(e).Wait(ctx)
}

// Run writes down a run of a task, or a handler, that changed something or went wrong. Nobody waits for it.
func (l *Ledger) Run(actor, typ, trace string, data any) {
	if l.log != nil {
		l.log.Lazy(audit.Entry{Kind: audit.KindOutcome, Type: typ, Actor: actor, Trace: trace, Data: encode(data)})
	}
}

// Event writes down what the guard did or saw by itself; it is made for events.Ring.Also. What programs and levels say is not the
// guard's and can come a thousand times in a second.
func (l *Ledger) Event(name string, data jsontext.Value) {
	if l.log != nil && name != "pin_change" && name != "adc_threshold" && name != "task_run" && !strings.HasPrefix(name, "user:") {
		l.log.Lazy(audit.Entry{Kind: audit.KindEvent, Type: name, Data: data})
	}
}

// Sync waits until everything that was written down so far is on the disk, for limits.AuditPatience at most: before a drive of high danger
// that has no intent of its own. Who waits may be the one that reads a connection's stop.
func (l *Ledger) Sync(ctx context.Context) *protocol.Error {
	if l.log == nil {
		return nil
	}
	ctx, done := context.WithTimeout(ctx, limits.AuditPatience)
	defer done()
	if err := l.log.Sync(ctx); err != nil {
		return &protocol.Error{Code: protocol.CodeStorage, Rule: "audit.sync", Message: "nothing of high danger is driven before what came before it is recorded: " + err.Error()}
	}
	return l.Ready()
}

// Log is the log itself, nil without one.
func (l *Ledger) Log() *audit.Log { return l.log }

// request is what of a request is kept: all but bytes that are only carried.
func request(req *protocol.Request) jsontext.Value {
	body := req.Body
	switch b := body.(type) {
	case *protocol.Exec:
		c := *b
		c.Code = cut(c.Code, limits.AuditCodeBytes)
		body = &c
	case *protocol.Register:
		c := *b
		c.Code = cut(c.Code, limits.AuditCodeBytes)
		body = &c
	case *protocol.FS:
		c := *b
		c.Data = nil
		body = &c
	case nil:
		body = struct{}{}
	}
	if req.Meta == nil {
		return encode(body)
	}
	return encode(map[string]any{"body": body, "meta": req.Meta})
}

// short is an answer as the log keeps it.
func short(a protocol.Answer) jsontext.Value {
	if r, ok := a.(protocol.Result); ok {
		for _, text := range []*string{&r.Stdout, &r.Stderr} {
			if kept := cut(*text, limits.AuditAnswerBytes); kept != *text {
				r.DroppedBytes += len(*text) - len(kept)
				*text, r.Truncated = kept, true
			}
		}
		if len(r.Value) > limits.AuditAnswerBytes {
			r.Value = nil
		}
		a = r
	}
	return answers.Encode(a)
}

func cut(text string, limit int) string {
	kept, _ := protocol.Cut([]byte(text), limit)
	return string(kept)
}

// encode never fails: what cannot be encoded is said so.
func encode(v any) jsontext.Value {
	raw, err := json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil || len(raw) == 0 || raw[0] != '{' {
		raw, _ = json.Marshal(map[string]string{"error": "could not be encoded"})
	}
	return raw
}
