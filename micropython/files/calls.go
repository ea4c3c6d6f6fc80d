package files

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

// What the engine's C library passes and expects.
const (
	openWriteOnly = 1
	openAccess    = 3
	openCreate    = 0x40
	openExclusive = 0x80
	openTruncate  = 0x200
	openAppend    = 0x400
	openFolder    = 0x10000

	modeFile   = 0o100000
	modeFolder = 0o040000

	statBytes   = 96
	statfsBytes = 72
	direntBytes = 280
	direntName  = 19
	direntDir   = 4
	direntFile  = 8
	firstHandle = 3
	mostBuffers = 64 // of one scatter or gather call; the engine's library passes two
	blockBytes  = 4096
)

// handle is an open file or folder.
type handle struct {
	node    *node  // nil for what the guard keeps
	path    string // the guard's
	at      int64  // atEnd: where the file ends
	read    bool
	write   bool
	append  bool
	folder  bool
	gone    bool    // its file was removed
	data    []byte  // what reads see, when that is not the file's own bytes
	entries []entry // of a folder, as they were when it was opened
	job     uint32  // that opened it

	ahead   []byte // read ahead from aheadAt on, good while aheadOf is the tree's moment
	aheadAt int64
	aheadOf uint64
}

// Memory is the engine's memory. Read returns the bytes themselves, not a copy, and false when not all of them lie within.
type Memory interface {
	Size() uint32
	Read(at, size uint32) ([]byte, bool)
}

// Call serves one file call: it takes its arguments from s and leaves its result in s[0].
type Call func(mem Memory, s []uint64)

// Calls are the file calls that the engine's C library imports, by name. Those named __syscall answer a negative error number, the
// others a positive one.
func (t *Tree) Calls() map[string]Call {
	return map[string]Call{
		"__syscall_chdir":   t.withPath(0, func(_ Memory, _ []uint64, p string) int32 { return t.chdir(p) }),
		"__syscall_mkdirat": t.withPath(1, func(_ Memory, _ []uint64, p string) int32 { return t.mkdir(p) }),
		"__syscall_rmdir":   t.withPath(0, func(_ Memory, _ []uint64, p string) int32 { return t.remove(p, true) }),
		"__syscall_unlinkat": t.withPath(1, func(_ Memory, s []uint64, p string) int32 {
			return t.remove(p, uint32(s[2])&0x200 != 0)
		}),
		"__syscall_renameat": t.withPath(1, func(mem Memory, s []uint64, from string) int32 {
			to, ok := text(mem, uint32(s[3]))
			if !ok {
				return enametoolong
			}
			return t.rename(from, t.abs(to))
		}),
		"__syscall_openat":     t.withPath(1, func(_ Memory, s []uint64, p string) int32 { return -t.openFile(p, uint32(s[2])) }),
		"__syscall_stat64":     t.withPath(0, func(mem Memory, s []uint64, p string) int32 { return t.stat(mem, p, uint32(s[1])) }),
		"__syscall_statfs64":   t.withPath(0, func(mem Memory, s []uint64, p string) int32 { return t.statfs(mem, p, uint32(s[2])) }),
		"__syscall_getcwd":     func(mem Memory, s []uint64) { s[0] = result(t.getcwd(mem, uint32(s[0]), uint32(s[1]))) },
		"__syscall_getdents64": func(mem Memory, s []uint64) { s[0] = result(t.dents(mem, int32(s[0]), uint32(s[1]), uint32(s[2]))) },
		"__syscall_poll":       func(_ Memory, s []uint64) { s[0] = result(-enosys) },
		"fd_close": func(_ Memory, s []uint64) {
			delete(t.open, int32(s[0]))
			s[0] = 0
		},
		"fd_sync": func(_ Memory, s []uint64) { s[0] = result(t.sync(int32(s[0]))) },
		"fd_seek": func(mem Memory, s []uint64) {
			s[0] = result(t.seek(mem, int32(s[0]), int64(s[1]), uint32(s[2]), uint32(s[3])))
		},
		"fd_read":  func(mem Memory, s []uint64) { s[0] = result(vector(mem, s, t.read)) },
		"fd_write": func(mem Memory, s []uint64) { s[0] = result(vector(mem, s, t.write)) },
	}
}

// result is a 32-bit answer as the engine takes it.
func result(n int32) uint64 { return uint64(uint32(n)) }

// withPath makes a call of f, which gets the absolute path that the argument arg points to and answers an error number.
func (t *Tree) withPath(arg int, f func(mem Memory, s []uint64, p string) int32) Call {
	return func(mem Memory, s []uint64) {
		errno := int32(enametoolong)
		if p, ok := text(mem, uint32(s[arg])); ok {
			errno = f(mem, s, t.abs(p))
		}
		s[0] = result(-errno)
	}
}

// text reads a NUL-terminated path; false when it is longer than any real one.
func text(mem Memory, p uint32) (string, bool) {
	if p >= mem.Size() {
		return "", false
	}
	raw, _ := mem.Read(p, min(limits.PathBytes, mem.Size()-p))
	end := bytes.IndexByte(raw, 0)
	if end < 0 {
		return "", false
	}
	return strings.ToValidUTF8(string(raw[:end]), "\uFFFD"), true
}

// vector runs f over the buffers of a scatter or gather call and stores how many bytes were moved.
func vector(mem Memory, s []uint64, f func(fd int32, p []byte) (int, int32)) int32 {
	fd, count := int32(s[0]), min(uint32(s[2]), mostBuffers)
	list, ok := mem.Read(uint32(s[1]), count*8)
	moved, okMoved := mem.Read(uint32(s[3]), 4)
	if !ok || !okMoved {
		return efault
	}
	total := 0
	for k := range count {
		p, ok := mem.Read(binary.LittleEndian.Uint32(list[8*k:]), binary.LittleEndian.Uint32(list[8*k+4:]))
		if !ok {
			return efault
		}
		n, errno := f(fd, p)
		if errno != 0 && total == 0 {
			return errno
		}
		total += n
		if errno != 0 || n < len(p) {
			break
		}
	}
	binary.LittleEndian.PutUint32(moved, uint32(total))
	return 0
}

// write serves fd_write: the two streams of output, and files.
func (t *Tree) write(fd int32, p []byte) (int, int32) {
	switch fd {
	case 1, 2:
		t.host.Print(hw.Stream(fd), p)
		return len(p), 0
	}
	h := t.open[fd]
	if h == nil || !h.write {
		return 0, ebadf
	}
	return t.writeFlash(h, p)
}

// read serves fd_read. Standard input is at its end from the start.
func (t *Tree) read(fd int32, p []byte) (int, int32) {
	if fd == 0 {
		return 0, 0
	}
	h := t.open[fd]
	switch {
	case h == nil || !h.read:
		return 0, ebadf
	case h.folder:
		return 0, eisdir
	case h.data == nil && h.node == nil:
		return t.readFlash(h, p)
	}
	data := h.data
	if data == nil {
		data = h.node.data
	}
	n := copy(p, data[min(h.at, int64(len(data))):])
	h.at += int64(n)
	return n, 0
}

func (t *Tree) openFile(p string, flags uint32) int32 {
	if len(t.open) >= limits.VMOpenFiles && !t.closeOldest() {
		return -emfile
	}
	imports := t.importing(p)
	t.lastStat = [2]string{}
	var h *handle
	var errno int32
	if q, ok := t.remote(p); ok {
		h, errno = t.openFlash(q, flags, imports)
	} else {
		h, errno = t.openLocal(localPath(p), flags, imports)
	}
	if errno != 0 {
		return -errno
	}
	h.job = t.job
	// Numbers are not used twice: a file object whose handle was taken back would otherwise write to another's file.
	for {
		t.lastFD = max(firstHandle, t.lastFD+1) // past the largest it begins again
		if t.open[t.lastFD] == nil {
			break
		}
	}
	t.open[t.lastFD] = h
	return t.lastFD
}

// openLocal opens a file or a folder of the library.
func (t *Tree) openLocal(p string, flags uint32, imports bool) (*handle, int32) {
	n, errno := t.local(p)
	writes := flags&openAccess != 0
	switch {
	case errno == enoent && flags&openCreate != 0:
		return nil, t.fixed(p)
	case errno != 0:
		return nil, errno
	case flags&openExclusive != 0 && flags&openCreate != 0:
		return nil, eexist
	case n.isDir() && writes:
		return nil, eisdir
	case !n.isDir() && flags&openFolder != 0:
		return nil, enotdir
	case writes:
		return nil, erofs
	}
	h := &handle{node: n, read: true, folder: n.isDir()}
	if h.folder {
		h.entries = n.list()
	}
	if imports {
		h.data = []byte(t.host.Source(string(n.data)))
	}
	return h, 0
}

// closeOldest takes back the handle of the job that is longest past, so that a program which leaves files open does not keep
// all that come after it from opening any. It reports false when the running job holds them all.
func (t *Tree) closeOldest() bool {
	oldest := int32(-1)
	for fd, h := range t.open {
		if h.job != t.job && (oldest < 0 || t.job-h.job > t.job-t.open[oldest].job) {
			oldest = fd
		}
	}
	delete(t.open, oldest)
	return oldest >= 0
}

// importing says that opening p follows the questions only an import asks: about X, then about X.py.
func (t *Tree) importing(p string) bool {
	bare, ok := strings.CutSuffix(p, ".py")
	if !ok || t.lastStat[1] != p {
		return false
	}
	return t.lastStat[0] == bare || strings.HasSuffix(bare, "/__init__")
}

func (t *Tree) stat(mem Memory, p string, buf uint32) int32 {
	t.lastStat[0], t.lastStat[1] = t.lastStat[1], p
	n, errno := t.info(p)
	if errno != 0 {
		return errno
	}
	raw, ok := mem.Read(buf, statBytes)
	if !ok {
		return efault
	}
	clear(raw)
	mode := uint32(modeFile | 0o444)
	if n.folder {
		mode = modeFolder | 0o555
	}
	if !n.fixed {
		mode |= 0o222
	}
	put := binary.LittleEndian
	put.PutUint32(raw[4:], mode)
	put.PutUint32(raw[8:], 1)
	put.PutUint64(raw[24:], uint64(n.size))
	put.PutUint32(raw[32:], blockBytes)
	put.PutUint32(raw[36:], uint32((n.size+511)/512))
	for _, at := range []int{40, 56, 72} {
		put.PutUint64(raw[at:], uint64(n.mtime.Unix()))
		put.PutUint32(raw[at+8:], uint32(n.mtime.Nanosecond()))
	}
	put.PutUint64(raw[88:], n.ino)
	return 0
}

func (t *Tree) statfs(mem Memory, p string, buf uint32) int32 {
	if _, errno := t.info(p); errno != 0 {
		return errno
	}
	free, total, errno := t.free()
	if errno != 0 {
		return errno
	}
	raw, ok := mem.Read(buf, statfsBytes)
	if !ok {
		return efault
	}
	clear(raw)
	put := binary.LittleEndian
	put.PutUint32(raw[4:], blockBytes)
	put.PutUint64(raw[8:], uint64(total/blockBytes))
	put.PutUint64(raw[16:], uint64(free/blockBytes))
	put.PutUint64(raw[24:], uint64(free/blockBytes))
	put.PutUint64(raw[32:], limits.FlashFiles)
	put.PutUint64(raw[40:], limits.FlashFiles)
	put.PutUint32(raw[56:], direntBytes-direntName-2)
	put.PutUint32(raw[60:], blockBytes)
	return 0
}

func (t *Tree) chdir(p string) int32 {
	n, errno := t.info(p)
	switch {
	case errno != 0:
		return errno
	case !n.folder:
		return enotdir
	}
	t.cwd = p
	return 0
}

// getcwd answers how many bytes it wrote, or a negative error number.
func (t *Tree) getcwd(mem Memory, buf, size uint32) int32 {
	need := uint32(len(t.cwd)) + 1
	if need > size {
		return -einval
	}
	raw, ok := mem.Read(buf, need)
	if !ok {
		return -efault
	}
	raw[copy(raw, t.cwd)] = 0
	return int32(need)
}

func (t *Tree) seek(mem Memory, fd int32, offset int64, whence, to uint32) int32 {
	h := t.open[fd]
	if h == nil {
		if fd >= 0 && fd < firstHandle {
			return espipe
		}
		return ebadf
	}
	base, errno := int64(0), int32(0)
	switch whence {
	case 1:
		errno = t.place(h)
		base = h.at
	case 2:
		base, errno = t.size(h)
	}
	if errno != 0 {
		return errno
	}
	at := base + offset
	if at < 0 || at > limits.FileBytes {
		return einval
	}
	h.at = at
	raw, ok := mem.Read(to, 8)
	if !ok {
		return efault
	}
	binary.LittleEndian.PutUint64(raw, uint64(at))
	return 0
}

// dents lists a folder: as many whole entries as fit.
func (t *Tree) dents(mem Memory, fd int32, buf, size uint32) int32 {
	h := t.open[fd]
	if h == nil {
		return -ebadf
	}
	raw, ok := mem.Read(buf, size)
	if !ok {
		return -efault
	}
	total := int32(0)
	for h.at < int64(len(h.entries)) && len(raw) >= direntBytes {
		h.at++
		putEntry(raw[:direntBytes], h.entries[h.at-1], int(h.at))
		raw = raw[direntBytes:]
		total += direntBytes
	}
	return total
}
