package files

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

// flashRoot is the folder whose files the guard keeps.
const flashRoot = "/flash"

// remote returns the guard's path for the absolute path p, and whether it has one. The working folder shows board.py, which is no
// file of the guard's.
func (t *Tree) remote(p string) (q string, ok bool) {
	switch {
	case p == flashRoot:
		return "/", true
	case p == flashRoot+"/board.py" && t.root.children["board.py"] != nil:
		return "", false
	}
	q, ok = strings.CutPrefix(p, flashRoot+"/")
	return "/" + q, ok
}

// localPath is where the node of a path that is not the guard's stands.
func localPath(p string) string {
	if rest, ok := strings.CutPrefix(p, flashRoot+"/"); ok {
		return "/" + rest
	}
	return p
}

// flash makes one call about what the guard keeps; the number is that of an error.
func (t *Tree) flash(c hw.Call) (*hw.Reply, int32) {
	c.Op = hw.OpFile
	r := t.host.Ask(c)
	t.fault.Errno = r.Errno
	if r.Errno == 0 {
		return r, 0
	}
	errno := r.Errno
	switch {
	case errno == efbig:
		errno = enospc
	case errno < 0 || errno > 132:
		errno = eio
	}
	t.fault = hw.Reply{Errno: errno, Text: strings.ToValidUTF8(r.Text, "\uFFFD")}
	t.faultAt = flashRoot + strings.TrimSuffix(c.Text, "/")
	return nil, errno
}

// change is flash for calls that change something.
func (t *Tree) change(c hw.Call) int32 {
	t.changes++
	_, errno := t.flash(c)
	return errno
}

// FaultText says what an error number of the latest refusal meant, "" when it was another.
func (t *Tree) FaultText(errno int32) string {
	if t.fault.Errno != errno || t.fault.Text == "" {
		return ""
	}
	return t.faultAt + ": " + t.fault.Text
}

// forbidden refuses bytecode, which the engine would run unchecked. The guard refuses it too.
func forbidden(p string) bool { return strings.HasSuffix(strings.ToLower(p), ".mpy") }

func (t *Tree) mkdir(p string) int32 {
	q, ok := t.remote(p)
	switch {
	case !ok:
		return t.fixedOr(p, eexist)
	case forbidden(q):
		return eacces
	case q == "/":
		return eexist
	}
	return t.change(hw.Call{A: hw.FileMkdir, Text: q})
}

// fixedOr is fixed, and errno for what is there.
func (t *Tree) fixedOr(p string, errno int32) int32 {
	if _, missing := t.local(localPath(p)); missing == 0 {
		return errno
	}
	return t.fixed(localPath(p))
}

// remove deletes a file or, with dir, an empty folder.
func (t *Tree) remove(p string, dir bool) int32 {
	q, ok := t.remote(p)
	if !ok {
		return t.fixedOrMissing(localPath(p))
	}
	if q == "/" {
		return erofs
	}
	op := int64(hw.FileRemove)
	if dir {
		op = hw.FileRmdir
	}
	errno := t.change(hw.Call{A: op, Text: q})
	if errno == 0 {
		t.forget(q)
	}
	return errno
}

func (t *Tree) fixedOrMissing(p string) int32 {
	if _, errno := t.local(p); errno != 0 {
		return errno
	}
	return erofs
}

// forget makes handles of a file that is gone see an empty one that cannot be written, whatever gets its name.
func (t *Tree) forget(q string) {
	for _, h := range t.open {
		if h.node == nil && h.path == q {
			h.gone = true
		}
	}
}

func (t *Tree) rename(from, to string) int32 {
	q, ok := t.remote(from)
	if !ok {
		return t.fixedOrMissing(localPath(from))
	}
	w, ok := t.remote(to)
	switch {
	case !ok:
		return t.fixed(localPath(to))
	case q == "/" || w == "/":
		return erofs
	case forbidden(w):
		return eacces
	case q == w:
		_, errno := t.flash(hw.Call{A: hw.FileStat, Text: q})
		return errno
	}
	errno := t.change(hw.Call{A: hw.FileRename, Text: q, Data: []byte(w)})
	if errno != 0 {
		return errno
	}
	t.forget(w)
	for _, h := range t.open { // what is open stays open under its new name
		if rest, ok := strings.CutPrefix(h.path, q); ok && h.node == nil && !h.gone && (rest == "" || rest[0] == '/') {
			h.path = w + rest
		}
	}
	return 0
}

// info is what stat tells.
type info struct {
	folder, fixed bool
	size          int64
	mtime         time.Time
	ino           uint64
}

func (t *Tree) info(p string) (info, int32) {
	q, ok := t.remote(p)
	if !ok {
		n, errno := t.local(localPath(p))
		if errno != 0 {
			return info{}, errno
		}
		return info{folder: n.isDir(), fixed: true, size: int64(len(n.data)), mtime: n.mtime, ino: n.ino}, 0
	}
	r, errno := t.flash(hw.Call{A: hw.FileStat, Text: q})
	if errno != 0 {
		return info{}, errno
	}
	return info{folder: r.Value < 0, size: max(0, r.Value), mtime: time.Unix(r.Extra, 0), ino: 1 << 32}, 0
}

// openFlash opens a file or a folder that the guard keeps.
func (t *Tree) openFlash(q string, flags uint32, imports bool) (*handle, int32) {
	access := flags & openAccess
	h := &handle{path: q, read: access != openWriteOnly, write: access != 0, append: flags&openAppend != 0}
	if !h.write {
		return h, t.openReading(h, flags, imports)
	}
	if forbidden(q) {
		return nil, eacces
	}
	if flags&openCreate != 0 {
		kind := int64(0)
		switch {
		case flags&openExclusive != 0:
			kind = 1
		case flags&openTruncate != 0:
			kind = 2
		}
		return h, t.change(hw.Call{A: hw.FileCreate, Text: q, B: kind})
	}
	r, errno := t.flash(hw.Call{A: hw.FileStat, Text: q})
	switch {
	case errno != 0:
		return nil, errno
	case r.Value < 0:
		return nil, eisdir
	case flags&openTruncate != 0:
		return h, t.change(hw.Call{A: hw.FileResize, Text: q})
	}
	return h, 0
}

// openReading looks whether the file may be read by reading its beginning.
func (t *Tree) openReading(h *handle, flags uint32, imports bool) int32 {
	errno := int32(eisdir)
	if flags&openFolder == 0 {
		errno = t.readAhead(h)
	}
	switch {
	case errno == eisdir:
		r, errno := t.flash(hw.Call{A: hw.FileList, Text: h.path})
		if errno != 0 {
			return errno
		}
		h.entries, h.folder = parseList(r.Data), true
		return 0
	case errno != 0 || !imports:
		return errno
	}
	source, errno := t.readWhole(h)
	h.data = []byte(t.host.Source(string(source)))
	return errno
}

// entry is one name of a folder.
type entry struct {
	name   string
	folder bool
}

// parseList reads the answer to hw.FileList. What is malformed ends it.
func parseList(p []byte) []entry {
	entries := []entry{}
	const before = 5 // kind and size
	for len(p) > before {
		end := bytes.IndexByte(p[before:], 0)
		if end < 0 {
			break
		}
		entries = append(entries, entry{name: string(p[before : before+end]), folder: p[0] == 'd'})
		p = p[before+end+1:]
	}
	return entries
}

func (n *node) list() []entry {
	entries := []entry{}
	for _, name := range slices.Sorted(maps.Keys(n.children)) {
		entries = append(entries, entry{name: name, folder: n.children[name].isDir()})
	}
	return entries
}

// readAhead fills the handle's buffer from where it stands: the engine reads lines byte by byte.
func (t *Tree) readAhead(h *handle) int32 {
	r, errno := t.flash(hw.Call{A: hw.FileRead, Text: h.path, B: h.at, C: blockBytes})
	if errno != 0 {
		return errno
	}
	h.ahead, h.aheadAt, h.aheadOf = append(h.ahead[:0], r.Data...), h.at, t.moment()
	return 0
}

// moment changes with whatever makes bytes read ahead doubtful: a change by this machine, or another job, before which anybody may have
// changed the file.
func (t *Tree) moment() uint64 { return uint64(t.job)<<32 | uint64(t.changes) }

func (t *Tree) readWhole(h *handle) ([]byte, int32) {
	var whole []byte
	for {
		r, errno := t.flash(hw.Call{A: hw.FileRead, Text: h.path, B: int64(len(whole)), C: limits.BusBytes})
		if errno != 0 {
			return nil, errno
		}
		if len(r.Data) == 0 || len(whole) > limits.FileBytes {
			return whole, 0
		}
		whole = append(whole, r.Data...)
	}
}

// readFlash reads from where the handle stands. Fewer bytes than asked for do not mean the end, no bytes do.
func (t *Tree) readFlash(h *handle, p []byte) (int, int32) {
	if errno := t.place(h); errno != 0 || h.gone {
		return 0, errno
	}
	from := h.at - h.aheadAt
	if h.aheadOf == t.moment() && from >= 0 && from < int64(len(h.ahead)) {
		n := copy(p, h.ahead[from:])
		h.at += int64(n)
		return n, 0
	}
	if len(p) < blockBytes {
		if errno := t.readAhead(h); errno != 0 {
			return 0, errno
		}
		n := copy(p, h.ahead)
		h.at += int64(n)
		return n, 0
	}
	r, errno := t.flash(hw.Call{A: hw.FileRead, Text: h.path, B: h.at, C: int64(min(len(p), limits.BusBytes))})
	if errno != 0 {
		return 0, errno
	}
	n := copy(p, r.Data)
	h.at += int64(n)
	return n, 0
}

// writeFlash writes at once: an error is the write's own, and a full store is told where it can be caught.
func (t *Tree) writeFlash(h *handle, p []byte) (int, int32) {
	if h.gone {
		return 0, enoent
	}
	if !h.append {
		if errno := t.place(h); errno != 0 {
			return 0, errno
		}
	}
	total, errno := 0, int32(0)
	for piece := range slices.Chunk(p, limits.BusBytes) {
		at := h.at + int64(total)
		if h.append {
			at = -1
		}
		if errno = t.change(hw.Call{A: hw.FileWrite, Text: h.path, B: at, Data: piece}); errno != 0 {
			break
		}
		total += len(piece)
	}
	h.at += int64(total)
	if h.append {
		h.at = atEnd
	}
	if total > 0 {
		errno = 0 // the next write tells
	}
	return total, errno
}

// atEnd is the place of a handle that stands where the file ends, wherever that is.
const atEnd = -1

// place finds out where a handle stands.
func (t *Tree) place(h *handle) int32 {
	if h.at != atEnd {
		return 0
	}
	size, errno := t.size(h)
	h.at = size
	return errno
}

// size is that of an open file.
func (t *Tree) size(h *handle) (int64, int32) {
	switch {
	case h.data != nil:
		return int64(len(h.data)), 0
	case h.node != nil:
		return int64(len(h.node.data)), 0
	case h.gone:
		return 0, 0
	}
	r, errno := t.flash(hw.Call{A: hw.FileStat, Text: h.path})
	if errno != 0 {
		return 0, errno
	}
	return max(0, r.Value), 0
}

// sync has what was written brought to the disk.
func (t *Tree) sync(fd int32) int32 {
	h := t.open[fd]
	if h == nil || h.node != nil || h.gone || !h.write {
		return 0
	}
	return t.change(hw.Call{A: hw.FileSync, Text: h.path})
}

// Sync has everything in /flash brought to the disk and answers an error number, 0 for none.
func (t *Tree) Sync() int32 {
	_, errno := t.flash(hw.Call{A: hw.FileSync, Text: "/"})
	return errno
}

// free answers bytes free and in all.
func (t *Tree) free() (free, total int64, errno int32) {
	r, errno := t.flash(hw.Call{A: hw.FileFree, Text: "/"})
	if errno != 0 {
		return 0, 0, errno
	}
	return r.Value, r.Extra, 0
}

// putEntry writes one folder entry as the engine's C library reads it.
func putEntry(raw []byte, e entry, at int) {
	clear(raw)
	binary.LittleEndian.PutUint64(raw, uint64(at))
	binary.LittleEndian.PutUint64(raw[8:], uint64(at))
	binary.LittleEndian.PutUint16(raw[16:], direntBytes)
	raw[18] = direntFile
	if e.folder {
		raw[18] = direntDir
	}
	copy(raw[direntName:direntBytes-1], e.name)
}
