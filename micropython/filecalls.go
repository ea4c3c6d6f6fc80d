package micropython

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

	statBytes    = 96
	statfsBytes  = 72
	direntBytes  = 280
	direntName   = 19
	direntDir    = 4
	direntFile   = 8
	firstHandle  = 3
	blockBytes   = 4096
	efault       = 14
	enosys       = 38
	enametoolong = 36
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

// imports are the file calls. Those named __syscall answer a negative error number, the others a positive one.
func (t *tree) imports(m *machine) map[string]func([]uint64) {
	withPath := func(arg int, f func(s []uint64, p string) int32) func([]uint64) {
		return func(s []uint64) {
			p, ok := m.path(uint32(s[arg]))
			if !ok {
				s[0] = minus(enametoolong)
				return
			}
			s[0] = uint64(uint32(f(s, t.abs(p))))
		}
	}
	return map[string]func([]uint64){
		"__syscall_chdir":   withPath(0, func(_ []uint64, p string) int32 { return -t.chdir(p) }),
		"__syscall_mkdirat": withPath(1, func(_ []uint64, p string) int32 { return -t.mkdir(p) }),
		"__syscall_rmdir":   withPath(0, func(_ []uint64, p string) int32 { return -t.remove(p, true) }),
		"__syscall_unlinkat": withPath(1, func(s []uint64, p string) int32 {
			return -t.remove(p, uint32(s[2])&0x200 != 0)
		}),
		"__syscall_renameat": withPath(1, func(s []uint64, from string) int32 {
			to, ok := m.path(uint32(s[3]))
			if !ok {
				return -enametoolong
			}
			return -t.rename(from, t.abs(to))
		}),
		"__syscall_openat": withPath(1, func(s []uint64, p string) int32 { return t.openFile(p, uint32(s[2])) }),
		"__syscall_stat64": withPath(0, func(s []uint64, p string) int32 { return -t.stat(m, p, uint32(s[1])) }),
		"__syscall_statfs64": withPath(0, func(s []uint64, p string) int32 {
			return -t.statfs(m, p, uint32(s[2]))
		}),
		"__syscall_getcwd":     func(s []uint64) { s[0] = t.getcwd(m, uint32(s[0]), uint32(s[1])) },
		"__syscall_getdents64": func(s []uint64) { s[0] = uint64(uint32(t.dents(m, int32(s[0]), uint32(s[1]), uint32(s[2])))) },
		"__syscall_poll":       func(s []uint64) { s[0] = minus(enosys) },
		"fd_close": func(s []uint64) {
			delete(t.open, int32(s[0]))
			s[0] = 0
		},
		"fd_sync":  func(s []uint64) { s[0] = uint64(uint32(t.sync(int32(s[0])))) },
		"fd_seek":  func(s []uint64) { s[0] = uint64(t.seek(m, int32(s[0]), int64(s[1]), uint32(s[2]), uint32(s[3]))) },
		"fd_read":  func(s []uint64) { s[0] = uint64(m.vector(s, t.read)) },
		"fd_write": func(s []uint64) { s[0] = uint64(m.vector(s, m.writeTo)) },
	}
}

// path reads a NUL-terminated path; false when it is longer than any real one.
func (m *machine) path(p uint32) (string, bool) {
	if p >= m.eng.mem.Size() {
		return "", false
	}
	raw, _ := m.eng.mem.Read(p, min(limits.PathBytes, m.eng.mem.Size()-p))
	end := bytes.IndexByte(raw, 0)
	if end < 0 {
		return "", false
	}
	return strings.ToValidUTF8(string(raw[:end]), "\uFFFD"), true
}

// vector runs f over the buffers of a scatter or gather call and stores how many bytes were moved.
func (m *machine) vector(s []uint64, f func(fd int32, p []byte) (int, int32)) int32 {
	fd, list, count, result := int32(s[0]), uint32(s[1]), uint32(s[2]), uint32(s[3])
	total := 0
	for k := range min(count, 64) {
		at, _ := m.eng.mem.ReadUint32Le(list + 8*k)
		size, _ := m.eng.mem.ReadUint32Le(list + 8*k + 4)
		p, ok := m.eng.mem.Read(at, size)
		if !ok {
			return efault
		}
		n, errno := f(fd, p)
		if errno != 0 {
			if total > 0 {
				break
			}
			return errno
		}
		total += n
		if n < len(p) {
			break
		}
	}
	m.eng.mem.WriteUint32Le(result, uint32(total))
	return 0
}

// writeTo serves fd_write: the two streams of output, and files.
func (m *machine) writeTo(fd int32, p []byte) (int, int32) {
	switch fd {
	case 1, 2:
		m.print(hw.Stream(fd), p)
		return len(p), 0
	}
	h := m.files.open[fd]
	if h == nil || !h.write {
		return 0, ebadf
	}
	return m.files.writeFlash(h, p)
}

// read serves fd_read. Standard input is at its end from the start.
func (t *tree) read(fd int32, p []byte) (int, int32) {
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

func (t *tree) openFile(p string, flags uint32) int32 {
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
func (t *tree) openLocal(p string, flags uint32, imports bool) (*handle, int32) {
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
		h.data = []byte(plainDecorators(string(n.data)))
	}
	return h, 0
}

// closeOldest takes back the handle of the job that is longest past, so that a program which leaves files open does not keep
// all that come after it from opening any. It reports false when the running job holds them all.
func (t *tree) closeOldest() bool {
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
func (t *tree) importing(p string) bool {
	bare, ok := strings.CutSuffix(p, ".py")
	if !ok || t.lastStat[1] != p {
		return false
	}
	return t.lastStat[0] == bare || strings.HasSuffix(bare, "/__init__")
}

func (t *tree) stat(m *machine, p string, buf uint32) int32 {
	t.lastStat[0], t.lastStat[1] = t.lastStat[1], p
	n, errno := t.info(p)
	if errno != 0 {
		return errno
	}
	raw, ok := m.eng.mem.Read(buf, statBytes)
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

func (t *tree) statfs(m *machine, p string, buf uint32) int32 {
	if _, errno := t.info(p); errno != 0 {
		return errno
	}
	free, total, errno := t.free()
	if errno != 0 {
		return errno
	}
	raw, ok := m.eng.mem.Read(buf, statfsBytes)
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

func (t *tree) chdir(p string) int32 {
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

func (t *tree) getcwd(m *machine, buf, size uint32) uint64 {
	if uint32(len(t.cwd)+1) > size {
		return minus(einval)
	}
	m.eng.mem.WriteString(buf, t.cwd)
	m.eng.mem.WriteByte(buf+uint32(len(t.cwd)), 0)
	return uint64(len(t.cwd) + 1)
}

func (t *tree) seek(m *machine, fd int32, offset int64, whence, result uint32) int32 {
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
	m.eng.mem.WriteUint64Le(result, uint64(at))
	return 0
}

// dents lists a folder: as many whole entries as fit.
func (t *tree) dents(m *machine, fd int32, buf, size uint32) int32 {
	h := t.open[fd]
	if h == nil {
		return -ebadf
	}
	raw, ok := m.eng.mem.Read(buf, size)
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
