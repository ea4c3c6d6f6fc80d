package audit

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"golang.org/x/mod/sumdb/note"

	"github.com/pal-terminal/pal/store"
)

// errStop ends a walk.
var errStop = errors.New("enough")

// Verify looks at every byte that the log has kept and that was durable when it began: each hash, number and checkpoint, and whether the
// segments follow each other. With a head that was kept elsewhere it also finds entries that were cut off the end and a log that was set
// back. Problem says what is wrong; the error, that it could not be looked at.
func (l *Log) Verify(ctx context.Context, kept *Head) (Report, error) {
	l.files.RLock()
	defer l.files.RUnlock()
	return verify(ctx, l.d, l.dir, "", kept, l.Head().Size)
}

// VerifyFiles is Verify for a log that nobody has open. key is the public key to believe, "" for those that lie beside the log.
func VerifyFiles(ctx context.Context, d store.Disk, dir, key string, kept *Head) (Report, error) {
	return verify(ctx, d, dir, key, kept, 0)
}

// verifier is one verification under way.
type verifier struct {
	ctx  context.Context
	keys note.Verifiers
	kept *Head
	upto uint64 // entries behind it are not looked at; 0 for all
	r    Report

	before point // behind the entry before the one that is looked at
	met    bool  // the entry of the kept head was seen
}

func verify(ctx context.Context, d store.Disk, dir, key string, kept *Head, upto uint64) (Report, error) {
	v := verifier{ctx: ctx, kept: kept, upto: upto}
	public := []string{key}
	var err error
	if key == "" {
		if public, err = publicKeys(d, dir); err != nil {
			return v.r, err
		}
	}
	var list []note.Verifier
	for _, text := range public {
		k, err := note.NewVerifier(text)
		if err != nil {
			return v.wrong(1, "a public key cannot be read: "+err.Error()), nil
		}
		list = append(list, k)
	}
	v.keys = note.VerifierList(list...)
	names, err := segments(d, dir)
	if err != nil {
		return v.r, err
	}
	var at *point
	for _, name := range names {
		if upto != 0 && at != nil && at.seq >= upto {
			break
		}
		data, err := readSegment(d, dir, name)
		if err != nil {
			return v.r, err
		}
		next, problem := v.segment(name, data, at)
		if err := ctx.Err(); err != nil {
			return v.r, err
		}
		if problem != "" {
			if first, _ := firstOf(name); at == nil && next.seq+1 < first {
				next.seq = first - 1
			}
			return v.wrong(next.seq+1, name+": "+problem), nil
		}
		at = &next
	}
	return v.end(at), nil
}

func (v *verifier) wrong(seq uint64, problem string) Report {
	v.r.Bad, v.r.Problem = seq, problem
	return v.r
}

// segment looks at one segment, behind the one that ended at at.
func (v *verifier) segment(name string, data []byte, at *point) (last point, problem string) {
	first, _ := firstOf(name)
	if at != nil {
		if last = *at; first != at.seq+1 {
			return last, fmt.Sprintf("it begins with entry %d, want %d", first, at.seq+1)
		}
	}
	if len(data) == 0 {
		return last, "it is empty"
	}
	var wrong string
	opened, marks := false, 0
	_, last, problem = walk(data, at, func(p point, _ []byte, e Entry) error {
		if v.upto != 0 && p.seq > v.upto || v.ctx.Err() != nil {
			return errStop
		}
		wrong = v.entry(name, p, e, &opened, &marks)
		if wrong != "" {
			return errStop
		}
		return nil
	})
	switch {
	case wrong != "":
		return last, wrong
	case problem == errStop.Error():
		problem = ""
	case problem == "" && marks == 0:
		problem = "it holds no checkpoint"
	}
	return last, problem
}

// entry looks at one entry whose hash and number are right. last is the point behind it.
func (v *verifier) entry(name string, behind point, e Entry, opened *bool, marks *int) string {
	if !*opened {
		*opened = true
		first, _ := firstOf(name)
		from, err := before(e)
		switch {
		case err != nil:
			return err.Error()
		case e.Seq != first:
			return fmt.Sprintf("it begins with entry %d, which its name does not say", e.Seq)
		case from.add(nil).seq != behind.seq:
			return "its start is not its own"
		}
		if v.r.First == 0 {
			v.r.First, v.before = e.Seq, from
		} else if v.r.Last > 0 && hex.EncodeToString(from.hash[:]) != v.r.Head.Hash {
			return "its start does not follow the end of the segment before"
		}
	} else if e.Kind == KindSegment {
		return "a start stands in the middle"
	}
	if e.Kind == KindCheckpoint {
		*marks++
		v.r.Checkpoints++
		var data struct {
			Note string `json:"note"`
		}
		if err := json.Unmarshal(e.Data, &data); err != nil {
			return "a checkpoint without a note"
		}
		if problem := checkNote(data.Note, v.keys, v.before); problem != "" {
			return problem
		}
		v.r.Head.Note = data.Note
	}
	v.before = behind
	note := v.r.Head.Note
	v.r.Head, v.r.Last = headOf(behind, note), behind.seq
	v.r.Entries++
	if v.kept != nil && v.kept.Size == behind.seq {
		v.met = true
		if v.kept.Hash != v.r.Head.Hash {
			return "it is another entry than the head that was kept tells of"
		}
	}
	return ""
}

// end compares the end with what was kept elsewhere.
func (v *verifier) end(at *point) Report {
	switch {
	case at == nil && v.kept != nil && v.kept.Size > 0:
		return v.wrong(1, "there is no log, and the head that was kept tells of one")
	case v.kept != nil && v.kept.Size > v.r.Last:
		return v.wrong(v.r.Last+1, fmt.Sprintf("the log ends with entry %d, and the head that was kept tells of %d: entries were cut off, or it was set back", v.r.Last, v.kept.Size))
	case v.kept != nil && !v.met && v.kept.Size >= v.r.First && v.kept.Size > 0:
		return v.wrong(v.kept.Size, "the entry of the head that was kept is not there")
	}
	return v.r
}
