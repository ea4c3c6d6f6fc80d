// Package files answers the request fs: it stands between a client's messages and flash.Store.
//
// # Model
//
// A [Desk] looks at once and gathers what clients send in parts until the part comes that names the hash of the whole; only then
// the file is written, in one step. Gathered parts are in memory, limits.FileUploads files at a time.
//
// It refuses a part that does not follow the last one, and a whole that is not what its hash says. Who may do what decides
// whoever calls it: core the scope, the store the rights.
package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pal-terminal/pal/flash"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// Desk answers fs requests. Its methods are safe for concurrent use. Requests that change files may wait for the disk.
type Desk struct {
	store *flash.Store

	mu      sync.Mutex
	uploads []*upload // the one heard of last at the end
}

// upload is a file that comes in parts.
type upload struct {
	who, path string
	data      []byte
}

// New returns a desk for a store, which stays the caller's.
func New(store *flash.Store) *Desk { return &Desk{store: store} }

// Do performs a request of who, whose code has rights r.
func (d *Desk) Do(who string, r flash.Rights, id *string, f *protocol.FS) (protocol.Answer, error) {
	a := protocol.FSAnswer{Header: protocol.NewHeader(id, protocol.AnswerFS)}
	if err := d.do(&a, who, r, f); err != nil {
		return nil, refusal(err)
	}
	return a, nil
}

func (d *Desk) do(a *protocol.FSAnswer, who string, r flash.Rights, f *protocol.FS) error {
	switch f.Op {
	case "ls":
		list, err := d.store.List(r, f.Path, f.Deep)
		a.Entries = []protocol.FileEntry{}
		for _, i := range list {
			a.Entries = append(a.Entries, entry(i))
		}
		return err
	case "stat":
		i, err := d.store.Stat(r, f.Path)
		a.Entries = []protocol.FileEntry{entry(i)}
		return err
	case "get":
		return d.get(a, r, f)
	case "put":
		return d.put(a, who, r, f)
	case "rm":
		return d.store.Remove(r, f.Path, f.Deep)
	case "mkdir":
		return d.store.Mkdir(r, f.Path)
	case "mv":
		return d.store.Rename(r, f.Path, f.To)
	default:
		a.Free, a.Total = d.store.Free()
		return nil
	}
}

func entry(i flash.Info) protocol.FileEntry {
	e := protocol.FileEntry{Path: i.Path, Folder: i.Folder, Size: i.Size, TimeMS: max(0, i.Time.UnixMilli())}
	if !i.Folder {
		e.Rights = i.Rights.String()
	}
	return e
}

func (d *Desk) get(a *protocol.FSAnswer, r flash.Rights, f *protocol.FS) error {
	data, err := d.store.Read(r, f.Path)
	if err != nil {
		return err
	}
	a.Size = int64(len(data))
	if f.Offset == 0 {
		sum := sha256.Sum256(data)
		a.SHA256 = hex.EncodeToString(sum[:])
	}
	most := int64(limits.FileChunk)
	if f.Size != nil {
		most = min(most, *f.Size)
	}
	from := min(f.Offset, a.Size)
	a.Data = data[from:min(from+most, a.Size)]
	return nil
}

func (d *Desk) put(a *protocol.FSAnswer, who string, r flash.Rights, f *protocol.FS) error {
	data, err := d.gather(who, f)
	if err != nil {
		return err
	}
	a.Size = int64(len(data))
	if f.SHA256 == "" {
		return nil
	}
	d.mu.Lock()
	d.take(who, f.Path)
	d.mu.Unlock()
	sum := sha256.Sum256(data)
	if a.SHA256 = hex.EncodeToString(sum[:]); !strings.EqualFold(a.SHA256, f.SHA256) {
		return &protocol.Error{Code: protocol.CodeBadRequest, Message: "what came has the hash " + a.SHA256 + ": send the file again", Resource: f.Path}
	}
	return d.store.Write(r, f.Path, data)
}

// gather adds a part and returns what has come so far.
func (d *Desk) gather(who string, f *protocol.FS) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	u := d.take(who, f.Path)
	switch {
	case f.Offset == 0:
		u = &upload{who: who, path: f.Path}
	case u == nil || int64(len(u.data)) != f.Offset:
		return nil, &protocol.Error{Code: protocol.CodeConflict, Message: "this part does not follow the last one that came: begin again at offset 0", Resource: f.Path}
	}
	if len(u.data)+len(f.Data) > limits.FileBytes {
		return nil, &protocol.Error{Code: protocol.CodeTooLarge, Message: fmt.Sprintf("a file has at most %d bytes", limits.FileBytes), Resource: f.Path}
	}
	u.data = append(u.data, f.Data...)
	d.uploads = append(d.uploads, u)
	if len(d.uploads) > limits.FileUploads {
		d.uploads = slices.Delete(d.uploads, 0, 1)
	}
	return u.data, nil
}

// take removes and returns an upload, nil when there is none; d.mu is held.
func (d *Desk) take(who, path string) *upload {
	i := slices.IndexFunc(d.uploads, func(u *upload) bool { return u.who == who && u.path == path })
	if i < 0 {
		return nil
	}
	u := d.uploads[i]
	d.uploads = slices.Delete(d.uploads, i, i+1)
	return u
}

// codes are the words of the protocol for POSIX numbers.
var codes = map[int]protocol.Code{
	2: protocol.CodeNotFound, 5: protocol.CodeStorage, 13: protocol.CodeDenied, 17: protocol.CodeConflict, 28: protocol.CodeFull,
	30: protocol.CodeStorage, 39: protocol.CodeConflict,
}

func refusal(err error) error {
	e, ok := errors.AsType[*flash.Error](err)
	if !ok {
		return err
	}
	code := codes[e.Errno]
	if code == "" {
		code = protocol.CodeBadRequest
	}
	text, rule, found := strings.Cut(e.Text, " [rule: ")
	if !found {
		rule = ""
	}
	return &protocol.Error{Code: code, Message: e.Path + ": " + text, Resource: e.Path, Rule: strings.TrimSuffix(rule, "]")}
}
