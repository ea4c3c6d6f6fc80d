package audit

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/mod/sumdb/note"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/store"
)

// ErrClosed is the error of receipts after Close.
var ErrClosed = errors.New("the audit log is closed")

// Log is an open log. Its methods are safe for concurrent use.
type Log struct {
	d   store.Disk
	dir string
	o   Options
	log *slog.Logger

	ready atomic.Pointer[error] // why it takes nothing, nil when it does
	wake  chan struct{}
	done  chan struct{} // closed by Close
	ended chan struct{}

	mu      sync.Mutex // guards what follows
	pending []item
	waiting int    // bytes in pending
	lazies  int    // in pending
	lost    uint64 // entries that were not written and that nobody was told of
	closed  bool
	head    Head

	files sync.RWMutex // held for reading while segments are read, for writing while one is added or removed

	// Owned by the writer.
	signer note.Signer
	public string
	file   store.File // nil: a new segment has to be begun first
	name   string
	size   int64
	at     point
	since  int // entries since the last checkpoint
	signed time.Time

	telling sync.Mutex // guards what follows, which only the writer changes
	low     error
	failure error
	stuck   bool // a batch has been under way for limits.AuditPatience; the one field that its timer changes too

	why     string       // of the next segment
	mending func() error // what has to be done to the newest segment before the next is begun
}

// item is an entry that waits for the writer.
type item struct {
	entry   Entry
	receipt *Receipt // nil for a lazy one
	size    int
}

// Append puts an entry in line and returns the receipt that tells when it is durable. It never waits for the disk.
func (l *Log) Append(e Entry) *Receipt {
	r := &Receipt{done: make(chan struct{})}
	e, size := l.clean(e)
	err := l.Ready()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		err = ErrClosed
	case err != nil && e.Kind == KindIntent:
	case err != nil && !errors.Is(err, errLow) && !errors.Is(err, errBacklog): // the reserve is for what came of what was begun
		l.lost++
	case l.waiting > waitingBytes:
		l.lost++
		err = errBacklog
	default:
		l.pending, l.waiting = append(l.pending, item{e, r, size}), l.waiting+size
		r.hurry = l.poke
		return r
	}
	r.err = err
	close(r.done)
	return r
}

// Lazy puts an entry in line that nobody waits for. It is durable within limits.AuditSync; past limits.AuditQueue it is counted only,
// and the log is not ready.
func (l *Log) Lazy(e Entry) {
	e, size := l.clean(e)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.lazies >= limits.AuditQueue || l.waiting > waitingBytes {
		l.lost++
		return
	}
	l.lazies++
	l.pending, l.waiting = append(l.pending, item{entry: e, size: size}), l.waiting+size
	switch {
	case l.lazies == limits.AuditQueue/2 || l.waiting > waitingBytes/2: // do not wait for the clock
		l.poke()
	case l.lazies == limits.AuditQueue: // the writer hangs in the disk, and cannot say so itself
		go l.tell()
	}
}

func (l *Log) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Sync waits until everything appended so far is durable.
func (l *Log) Sync(ctx context.Context) error {
	if err := l.Ready(); err != nil {
		return err
	}
	r := &Receipt{done: make(chan struct{})}
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return ErrClosed
	}
	l.pending = append(l.pending, item{receipt: r}) // an entry without a kind is not written
	l.poke()
	l.mu.Unlock()
	return r.Wait(ctx)
}

// Ready returns nil, or why nothing may be actuated. It is cheap.
func (l *Log) Ready() error {
	if err := l.ready.Load(); err != nil {
		return *err
	}
	return nil
}

// Head is the end of what is durable.
func (l *Log) Head() Head {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.head
}

// Key is the public key that verifies checkpoints.
func (l *Log) Key() string { return l.public }

// Close writes what waits and a last checkpoint.
func (l *Log) Close() error {
	l.mu.Lock()
	first := !l.closed
	l.closed = true
	l.mu.Unlock()
	if first {
		close(l.done)
	}
	<-l.ended
	l.telling.Lock()
	defer l.telling.Unlock()
	return l.failure
}

var (
	errLow     = errors.New("there is too little room on the disk")
	errBacklog = errors.New("the disk is too slow for what is recorded")
	errStuck   = fmt.Errorf("%w: it has not answered for %v", errBacklog, limits.AuditPatience)
)

// Bytes of one write, which has to fit behind the end of a segment, and of what may wait.
const (
	batchBytes   = (limits.AuditSegmentLongest - limits.AuditSegmentBytes) / 2
	waitingBytes = 4 * limits.AuditSegmentLongest
)

// run is the writer.
func (l *Log) run() {
	defer close(l.ended)
	tick := time.NewTicker(limits.AuditSync)
	defer tick.Stop()
	for closing := false; !closing; {
		urgent := false
		select {
		case <-l.wake:
			urgent = true
		case <-tick.C:
			l.setLow(l.look())
		case <-l.done:
			closing = true
		}
		if l.failure != nil && (!urgent || closing) { // a tick is also the pause between two tries
			l.recover()
		}
		l.flush(closing)
		l.tell()
	}
	if l.file != nil {
		if err := l.file.Close(); err != nil {
			l.log.Error("close the audit log", "err", err)
		}
	}
}

// look finds out how much room there is.
func (l *Log) look() error {
	free, err := l.d.Free()
	if err == nil && free >= 0 && free < limits.AuditReserve {
		return fmt.Errorf("%w: %d KiB are free, %d KiB are kept for what is under way", errLow, free>>10, limits.AuditReserve>>10)
	}
	return nil
}

func (l *Log) setLow(err error) {
	l.telling.Lock()
	defer l.telling.Unlock()
	l.low = err
}

// tell publishes whether the log is ready.
func (l *Log) tell() {
	l.telling.Lock()
	defer l.telling.Unlock()
	err := l.failure
	if err == nil {
		err = l.low
	}
	if err == nil && l.stuck {
		err = errStuck
	}
	l.mu.Lock()
	if err == nil && l.lazies >= limits.AuditQueue {
		err = errBacklog
	}
	l.mu.Unlock()
	was := l.Ready()
	if was != nil && err != nil && was.Error() == err.Error() || was == nil && err == nil {
		return
	}
	if err == nil {
		l.ready.Store(nil)
	} else {
		l.ready.Store(&err)
	}
	l.o.OnState(err)
}

// flush writes and syncs everything that waits, in one go.
func (l *Log) flush(closing bool) {
	l.mu.Lock()
	all := l.pending
	l.pending, l.lazies, l.waiting = nil, 0, 0
	l.mu.Unlock()
	for first := true; first || len(all) > 0; first = false {
		n, size := 0, 0
		for n < len(all) && (n == 0 || size+all[n].size <= batchBytes) {
			size += all[n].size
			n++
		}
		l.put(all[:n], closing && n == len(all))
		all = all[n:]
	}
}

// hurry watches over a batch: a disk that hangs must not leave what needs no receipt driving for as long as it hangs. It is over when the
// function that it returns is called.
func (l *Log) hurry() (over func()) {
	ended := false // guarded by telling
	late := time.AfterFunc(limits.AuditPatience, func() {
		l.telling.Lock()
		l.stuck = l.stuck || !ended
		l.telling.Unlock()
		l.tell()
	})
	return func() {
		late.Stop()
		l.telling.Lock()
		defer l.telling.Unlock()
		ended, l.stuck = true, false
	}
}

// put writes and syncs one batch and tells those who wait.
func (l *Log) put(batch []item, closing bool) {
	defer l.hurry()()
	if l.failure == nil && l.size >= l.o.SegmentBytes {
		l.why = ""
		l.fail(l.begin())
	}
	var err error
	if l.failure == nil {
		err = l.write(batch, closing)
		l.fail(err)
	}
	if err = l.failure; err != nil {
		lost := uint64(0)
		for _, i := range batch {
			if i.entry.Kind != "" {
				lost++
			}
		}
		l.mu.Lock()
		l.lost += lost
		l.mu.Unlock()
		l.tell() // before anybody who waits is told
	}
	for _, i := range batch {
		if i.receipt != nil {
			i.receipt.err = err
			close(i.receipt.done)
		}
	}
}

// write appends entries to the segment and makes them durable. Until that has happened the log is where it was.
func (l *Log) write(batch []item, closing bool) error {
	var buf []byte
	at, since, signed := l.at, l.since, l.signed
	var head Head
	add := func(e Entry) error {
		e.Seq, e.TimeMS = at.seq+1, l.o.Now().UnixMilli()
		text, err := json.Marshal(e, json.Deterministic(true))
		if err != nil {
			return err
		}
		at = at.add(text)
		buf = appendLine(buf, at.hash, text)
		since++
		return nil
	}
	l.mu.Lock()
	lost := l.lost
	note := l.head.Note
	l.mu.Unlock()
	if lost > 0 {
		if err := add(Entry{Kind: KindEvent, Type: "audit_lost", Data: fmt.Appendf(nil, `{"entries":%d}`, lost)}); err != nil {
			return err
		}
	}
	for _, i := range batch {
		if i.entry.Kind == "" {
			continue
		}
		if err := add(i.entry); err != nil {
			return err
		}
	}
	if since >= limits.AuditCheckpoint || since > 0 && (closing || l.o.Now().Sub(signed) >= limits.AuditSigned) {
		text, err := sign(l.signer, at)
		if err != nil {
			return err
		}
		if err := add(checkpoint(text)); err != nil {
			return err
		}
		note, since, signed = text, 0, l.o.Now()
	}
	if len(buf) == 0 {
		return nil
	}
	if _, err := l.file.WriteAt(buf, l.size); err != nil {
		return err
	}
	if err := l.file.Sync(); err != nil {
		return err
	}
	l.size += int64(len(buf))
	l.at, l.since, l.signed = at, since, signed
	head = Head{Size: at.seq, Hash: hex.EncodeToString(at.hash[:]), Note: note}
	l.mu.Lock()
	l.head, l.lost = head, l.lost-lost
	l.mu.Unlock()
	return nil
}

func checkpoint(text string) Entry {
	data, _ := json.Marshal(map[string]string{"note": text}) // text cannot fail
	return Entry{Kind: KindCheckpoint, Data: data}
}

// fail takes the log out of service; nil does nothing.
func (l *Log) fail(err error) {
	if err == nil {
		return
	}
	l.setFailure(fmt.Errorf("the audit log cannot be written: %w", err))
	l.log.Error("audit log", "err", err)
}

func (l *Log) setFailure(err error) {
	l.telling.Lock()
	defer l.telling.Unlock()
	l.failure = err
}

// recover goes on behind what is known to be durable, in a new segment: what a failed write or sync has left in the old one is not
// trusted.
func (l *Log) recover() {
	err := l.repair()
	if err == nil {
		err = l.mend()
	}
	if err == nil {
		err = l.begin()
	}
	if err != nil {
		err = fmt.Errorf("the audit log cannot be written: %w", err)
	}
	l.setFailure(err)
}

// repair cuts off what was not acknowledged.
func (l *Log) repair() error {
	if l.file == nil {
		return nil
	}
	if err := errors.Join(l.file.Truncate(l.size), l.file.Sync()); err != nil {
		return err
	}
	l.why = "the segment before could not be written"
	return nil
}
