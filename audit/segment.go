package audit

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/store"
)

// suffix ends the names of segments; before it stands the number of the first entry, in as many digits as the longest has, so that
// their order is that of their names.
const suffix = ".log"

func segmentName(seq uint64) string { return fmt.Sprintf("%020d%s", seq, suffix) }

// segments lists the segments, oldest first.
func segments(d store.Disk, dir string) ([]string, error) {
	all, err := d.List(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range all {
		if _, ok := firstOf(name); ok {
			names = append(names, name)
		}
	}
	return names, nil
}

// firstOf is the number of the first entry of a segment.
func firstOf(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	if !ok || len(digits) != 20 {
		return 0, false
	}
	seq, err := strconv.ParseUint(digits, 10, 64)
	return seq, err == nil && seq > 0
}

// begin starts the next segment: its first entry holds what is needed to verify it alone, its second a checkpoint over that. Then those
// beyond the retention go.
func (l *Log) begin() (err error) {
	if l.signer == nil {
		if err := errors.Join(l.d.Mkdir(l.dir), l.d.Sync("")); err != nil { // a folder is durable when its name is
			return err
		}
		var fresh bool
		if l.signer, l.public, fresh, err = loadKey(l.d, l.dir, l.o.Terminal); err != nil {
			return err
		}
		if fresh {
			l.why = strings.TrimPrefix(l.why+"; the signing key is a new one", "; ")
		}
	}
	s := l.at.start()
	s.Note = l.why
	data, err := json.Marshal(s, json.Deterministic(true))
	if err != nil {
		return err
	}
	at := l.at
	var buf []byte
	add := func(e Entry) error {
		e.Seq, e.TimeMS = at.seq+1, l.o.Now().UnixMilli()
		text, err := json.Marshal(e, json.Deterministic(true))
		if err == nil {
			at = at.add(text)
			buf = appendLine(buf, at.hash, text)
		}
		return err
	}
	if err := add(Entry{Kind: KindSegment, Data: data}); err != nil {
		return err
	}
	text, err := sign(l.signer, at)
	if err == nil {
		err = add(checkpoint(text))
	}
	if err != nil {
		return err
	}
	l.files.Lock()
	defer l.files.Unlock()
	name := segmentName(l.at.seq + 1)
	f, err := l.create(name, buf)
	if err != nil {
		return err
	}
	if l.file != nil && l.name != name {
		err = l.file.Close()
	}
	l.file, l.name, l.size, l.at, l.since, l.signed, l.why = f, name, int64(len(buf)), at, 0, l.o.Now(), ""
	l.mu.Lock()
	l.head = Head{Size: at.seq, Hash: hex.EncodeToString(at.hash[:]), Note: text}
	l.mu.Unlock()
	return errors.Join(err, l.retire())
}

// create writes a segment's beginning durably. One of that name can only be left of a try that failed or was cut: nobody was told of it.
func (l *Log) create(name string, content []byte) (store.File, error) {
	if err := store.Replace(l.d, l.dir+"/"+name, content); err != nil {
		return nil, err
	}
	return l.d.Open(l.dir+"/"+name, false)
}

// retire removes the oldest segments when all together are longer than so many full ones: a start, or a disk that fails at times, begins
// a short one, and must not wash away what was kept. A crash in the middle leaves some more of them, which the next one removes.
func (l *Log) retire() error {
	names, err := segments(l.d, l.dir)
	if err != nil || len(names) <= l.o.Segments {
		return err
	}
	room, least := int64(l.o.Segments)*l.o.SegmentBytes, min(limits.AuditSegmentLeast, l.o.SegmentBytes)
	keep := len(names)
	for ; keep > 0 && room > 0; keep-- {
		size, err := l.sizeOf(names[keep-1])
		if err != nil {
			return err
		}
		room -= max(size, least)
	}
	for _, name := range names[:keep] {
		if err := l.d.Remove(l.dir + "/" + name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return l.d.Sync(l.dir)
}

func (l *Log) sizeOf(name string) (int64, error) {
	f, err := l.d.Open(l.dir+"/"+name, false)
	if err != nil {
		return 0, err
	}
	size, err := f.Size()
	return size, errors.Join(err, f.Close())
}
