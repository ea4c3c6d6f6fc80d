package audit

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/store"
)

// quarantine is the folder, beside the log's, of what was damaged.
const quarantine = "quarantine"

// Open reads what there is of the log in a folder of the disk, goes on behind it and starts the writer. interrupted are intents, as
// far back as Since, that have no outcome. What is damaged is put aside and told; a disk that cannot be written makes a log that is
// not ready, and only one that cannot be read is an error.
func Open(d store.Disk, dir string, o Options) (l *Log, interrupted []Entry, err error) {
	o.defaults()
	l = &Log{
		d: d, dir: dir, o: o, log: o.Log, wake: make(chan struct{}, 1), done: make(chan struct{}), ended: make(chan struct{}),
	}
	names, err := segments(d, dir)
	if err != nil {
		return nil, nil, fmt.Errorf("list the audit log: %w", err)
	}
	if interrupted, err = l.replay(names); err != nil {
		return nil, nil, err
	}
	l.lookAtKeys()
	if err = l.mend(); err == nil {
		err = l.begin()
	}
	l.fail(err)
	l.setLow(l.look())
	l.tell()
	go l.run()
	return l, interrupted, nil
}

func (o *Options) defaults() {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Secrets == nil {
		o.Secrets = func() []string { return nil }
	}
	if o.Replay == nil {
		o.Replay = func(Entry) {}
	}
	if o.Damaged == nil {
		o.Damaged = func(string) {}
	}
	if o.OnState == nil {
		o.OnState = func(error) {}
	}
	if o.SegmentBytes == 0 {
		o.SegmentBytes = limits.AuditSegmentBytes
	}
	if o.Segments == 0 {
		o.Segments = limits.AuditSegments
	}
}

// replay reads the newest segments, whatever the clock said when they were written, and finds the place to go on behind. Each run begins a
// new segment, so that what is wrong with the last one harms nothing that is written from now on; an older one that cannot be read stops
// no start.
func (l *Log) replay(names []string) (interrupted []Entry, err error) {
	open := map[string]Entry{}
	from, err := l.newest(names)
	if err != nil {
		return nil, err
	}
	for i, name := range names[from:] {
		last := from+i == len(names)-1
		data, err := l.read(name)
		switch {
		case err != nil && last:
			return nil, err
		case err != nil:
			l.o.Damaged(fmt.Sprintf("segment %s: %v", name, err))
			continue
		}
		var behind point
		end, at, problem := walk(data, nil, func(p point, _ []byte, e Entry) error {
			behind = p
			l.o.Replay(e)
			switch {
			case e.Kind == KindOutcome:
				delete(open, e.Trace)
			case e.Kind == KindIntent && e.TimeMS >= l.o.Since.UnixMilli():
				open[e.Trace] = e
			}
			return nil
		})
		if last {
			l.at = at
		}
		if problem != "" {
			l.damaged(name, data, end, behind, problem, last)
		}
	}
	return slices.SortedFunc(maps.Values(open), func(a, b Entry) int { return int(int64(a.Seq) - int64(b.Seq)) }), nil
}

// newest is the first of the newest segments that are replayed: a start must not take longer the more was done before it.
func (l *Log) newest(names []string) (int, error) {
	room := int64(limits.AuditReplay)
	for i := len(names) - 1; i >= 0; i-- {
		size, err := l.sizeOf(names[i])
		if err != nil {
			return 0, err
		}
		if room -= size; room < 0 && i < len(names)-1 {
			return i + 1, nil
		}
	}
	return 0, nil
}

// mend does what is left to do to the newest segment; what fails is tried again with the next recovery.
func (l *Log) mend() error {
	if l.mending == nil {
		return nil
	}
	err := l.mending()
	if err == nil {
		l.mending = nil
	}
	return err
}

// damaged has what is wrong taken out of the newest segment. A last line that a cut left unfinished goes; anything else is damage (also
// a segment without a first line, which it was made with): the whole file is kept in quarantine, and what of it is right stays.
func (l *Log) damaged(name string, data []byte, end int64, behind point, problem string, last bool) {
	torn := last && end > 0 && !strings.Contains(strings.TrimRight(string(data[end:]), "\x00"), "\n")
	if torn {
		l.why = fmt.Sprintf("%d bytes of an unfinished line were cut off", int64(len(data))-end)
	} else {
		problem = fmt.Sprintf("segment %s, behind entry %d: %s", name, behind.seq, problem)
		l.o.Damaged(problem)
		if !last { // verification tells of it for as long as it is kept
			return
		}
		l.why = "the segment before was damaged: " + problem
	}
	l.mending = func() error {
		if !torn {
			if err := l.aside(name, data); err != nil {
				return err
			}
		}
		if end == 0 { // nothing of it is right
			return l.forgetTail(name)
		}
		return store.Replace(l.d, l.dir+"/"+name, data[:end])
	}
}

// forgetTail removes a last segment of which nothing is right, and goes on behind the one before it.
func (l *Log) forgetTail(name string) error {
	if err := l.d.Remove(l.dir + "/" + name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	names, err := segments(l.d, l.dir)
	l.at = point{}
	if err != nil || len(names) == 0 {
		return err
	}
	data, err := l.read(names[len(names)-1])
	if err == nil {
		_, l.at, _ = walk(data, nil, nil)
	}
	return err
}

// aside keeps a copy of a damaged segment.
func (l *Log) aside(name string, data []byte) error {
	if err := errors.Join(l.d.Mkdir(quarantine), l.d.Sync("")); err != nil {
		return err
	}
	return store.Replace(l.d, fmt.Sprintf("%s/%s-%s-%d", quarantine, l.dir, name, l.o.Now().UnixNano()), data)
}

// read reads a whole segment.
func (l *Log) read(name string) ([]byte, error) { return readSegment(l.d, l.dir, name) }

func readSegment(d store.Disk, dir, name string) ([]byte, error) {
	data, err := store.Read(d, dir+"/"+name, limits.AuditSegmentLongest)
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	return data, nil
}

// headOf is the head at a point.
func headOf(p point, note string) Head {
	return Head{Size: p.seq, Hash: hex.EncodeToString(p.hash[:]), Note: note}
}
