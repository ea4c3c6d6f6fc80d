package files

import (
	"encoding/binary"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/flash"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

// memory is an engine's memory of one page.
type memory []byte

func (m memory) Size() uint32 { return uint32(len(m)) }

func (m memory) Read(at, size uint32) ([]byte, bool) {
	if uint64(at)+uint64(size) > uint64(len(m)) {
		return nil, false
	}
	return m[at : at+size : at+size], true
}

// Where the tests put what they pass.
const (
	pathAt   = 0x100
	secondAt = 0x1000
	listAt   = 0x2000
	resultAt = 0x2100
	bufferAt = 0x4000
)

// program makes file calls as the engine's C library does.
type program struct {
	t       *testing.T
	mem     memory
	tree    *Tree
	calls   map[string]Call
	asked   []hw.Call
	printed strings.Builder
}

func newProgram(t *testing.T) *program {
	t.Helper()
	store, err := flash.Open("")
	if err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, mem: make(memory, 64<<10)}
	p.tree = New(Host{
		Ask: func(c hw.Call) *hw.Reply {
			p.asked = append(p.asked, c)
			r := store.Call(flash.Full, c)
			return &r
		},
		Print:  func(_ hw.Stream, b []byte) { p.printed.Write(b) },
		Source: strings.ToUpper,
	})
	if err := p.tree.AddLibrary(fstest.MapFS{
		"lib/driver.py":        {Data: []byte("secret")},
		"lib/machine/_pin.py":  {Data: []byte("class Pin")},
		"lib/neopixel.py":      {Data: []byte("pixels")},
		"lib/_pal.py":          {Data: []byte("pal")},
		"elsewhere/ignored.py": {Data: []byte("no")},
	}); err != nil {
		t.Fatal(err)
	}
	p.calls = p.tree.Calls()
	p.tree.Begin(1)
	return p
}

func (p *program) put(at int, s string) uint64 {
	p.mem[at+copy(p.mem[at:], s)] = 0
	return uint64(at)
}

// call makes a call and answers its result as a signed number.
func (p *program) call(name string, args ...uint64) int32 {
	p.t.Helper()
	s := make([]uint64, 8)
	copy(s, args)
	p.calls[name](p.mem, s)
	return int32(uint32(s[0]))
}

func (p *program) open(path string, flags uint64) int32 {
	return p.call("__syscall_openat", 0, p.put(pathAt, path), flags)
}

// move reads or writes n bytes at bufferAt, in two parts, and answers how many were moved or a negative error number.
func (p *program) move(name string, fd int32, n uint32) int32 {
	first := n / 2
	for k, v := range []uint32{bufferAt, first, bufferAt + first, n - first} {
		binary.LittleEndian.PutUint32(p.mem[listAt+4*k:], v)
	}
	if errno := p.call(name, uint64(uint32(fd)), listAt, 2, resultAt); errno != 0 {
		return -errno
	}
	return int32(binary.LittleEndian.Uint32(p.mem[resultAt:]))
}

func (p *program) read(fd int32, n uint32) string {
	p.t.Helper()
	got := p.move("fd_read", fd, n)
	if got < 0 {
		p.t.Fatalf("read: error %d", -got)
	}
	return string(p.mem[bufferAt : bufferAt+got])
}

func (p *program) write(fd int32, s string) int32 {
	copy(p.mem[bufferAt:], s)
	return p.move("fd_write", fd, uint32(len(s)))
}

// names lists an open folder.
func (p *program) names(fd int32) []string {
	p.t.Helper()
	var names []string
	for {
		n := p.call("__syscall_getdents64", uint64(fd), bufferAt, direntBytes+100) // one at a time
		if n < 0 {
			p.t.Fatalf("getdents: error %d", -n)
		}
		if n == 0 {
			return names
		}
		raw := p.mem[bufferAt+direntName : bufferAt+n]
		name, _, _ := strings.Cut(string(raw), "\x00")
		if p.mem[bufferAt+18] == direntDir {
			name += "/"
		}
		names = append(names, name)
	}
}

func TestReadAndWrite(t *testing.T) {
	p := newProgram(t)
	fd := p.open("a.txt", 2|openCreate|openTruncate)
	if n := p.write(fd, "hello world"); n != 11 {
		t.Fatalf("write: got %d, want 11", n)
	}
	if errno := p.call("fd_seek", uint64(fd), 6, 0, resultAt); errno != 0 || binary.LittleEndian.Uint64(p.mem[resultAt:]) != 6 {
		t.Errorf("seek: error %d, at %d, want 6", errno, binary.LittleEndian.Uint64(p.mem[resultAt:]))
	}
	if got := p.read(fd, 100); got != "world" {
		t.Errorf("read: got %q, want world", got)
	}
	if got := p.read(fd, 100); got != "" {
		t.Errorf("at the end: got %q", got)
	}
	if errno := p.call("fd_close", uint64(fd)); errno != 0 || p.move("fd_read", fd, 4) != -ebadf {
		t.Error("a closed handle reads")
	}
	if n := p.write(1, "out"); n != 3 || p.printed.String() != "out" {
		t.Errorf("standard output: got %d, %q", n, p.printed.String())
	}
	if got := p.read(0, 10); got != "" {
		t.Errorf("standard input: got %q, want its end", got)
	}
}

func TestFolders(t *testing.T) {
	p := newProgram(t)
	p.tree.SetBoard([]byte("# board"))
	p.call("__syscall_mkdirat", 0, p.put(pathAt, "d"))
	p.call("fd_close", uint64(p.open("d/x", 1|openCreate)))
	for _, tt := range []struct {
		path string
		want []string
	}{
		{"/", []string{"board.py", "flash/", "lib/"}},
		{"/lib", []string{"neopixel.py", "pal/"}},
		{"/lib/pal", []string{"_pal.py", "machine/"}},
		{"/lib/pal/machine", []string{"_pin.py"}},
		{"", []string{"d/"}},
		{"d/../d", []string{"x"}},
	} {
		if d := cmp.Diff(tt.want, p.names(p.open(tt.path, openFolder))); d != "" {
			t.Errorf("%q (-want +got):\n%s", tt.path, d)
		}
	}
	if got := p.read(p.open("board.py", 0), 100); got != "# board" {
		t.Errorf("board.py: got %q", got)
	}
	if errno := p.call("__syscall_chdir", p.put(pathAt, "/lib/pal")); errno != 0 {
		t.Errorf("chdir: error %d", -errno)
	}
	if n := p.call("__syscall_getcwd", bufferAt, 9); n != 9 || string(p.mem[bufferAt:bufferAt+9]) != "/lib/pal\x00" {
		t.Errorf("getcwd: got %d, %q", n, p.mem[bufferAt:bufferAt+9])
	}
}

// Only what the questions of an import lead to is turned into what the engine compiles.
func TestImportsReadSource(t *testing.T) {
	p := newProgram(t)
	stat := func(path string) int32 { return p.call("__syscall_stat64", p.put(pathAt, path), bufferAt) }
	if got := p.read(p.open("/lib/neopixel.py", 0), 100); got != "pixels" {
		t.Errorf("opened: got %q, want the file's own bytes", got)
	}
	if stat("/lib/neopixel") != -enoent || stat("/lib/neopixel.py") != 0 {
		t.Error("stat")
	}
	if got := p.read(p.open("/lib/neopixel.py", 0), 100); got != "PIXELS" {
		t.Errorf("imported: got %q, want it turned", got)
	}
}

func TestErrors(t *testing.T) {
	p := newProgram(t)
	p.call("__syscall_mkdirat", 0, p.put(pathAt, "d"))
	long := strings.Repeat("a", limits.PathBytes)
	for _, tt := range []struct {
		name string
		path string // at pathAt
		args []uint64
		want int32
	}{
		{"__syscall_openat", "none", []uint64{0, pathAt}, enoent},
		{"__syscall_openat", long, []uint64{0, pathAt}, enametoolong},
		{"__syscall_openat", "", []uint64{0, 1 << 20}, enametoolong},
		{"__syscall_openat", "/lib/new.py", []uint64{0, pathAt, 1 | openCreate}, erofs},
		{"__syscall_openat", "/lib/x/new.py", []uint64{0, pathAt, 1 | openCreate}, enoent},
		{"__syscall_openat", "x.mpy", []uint64{0, pathAt, 1 | openCreate}, eacces},
		{"__syscall_openat", "d", []uint64{0, pathAt, 1}, eisdir},
		{"__syscall_openat", "/lib/neopixel.py", []uint64{0, pathAt, openFolder}, enotdir},
		{"__syscall_mkdirat", "/lib", []uint64{0, pathAt}, eexist},
		{"__syscall_unlinkat", "/lib/neopixel.py", []uint64{0, pathAt, 0}, erofs},
		{"__syscall_rmdir", "/flash", []uint64{pathAt}, erofs},
		{"__syscall_chdir", "/lib/neopixel.py", []uint64{pathAt}, enotdir},
		{"__syscall_stat64", "/lib", []uint64{pathAt, 64<<10 - statBytes + 1}, efault},
		{"__syscall_statfs64", "/flash", []uint64{pathAt, 0, 1<<32 - 1}, efault},
		{"__syscall_getcwd", "", []uint64{bufferAt, 3}, einval},
		{"__syscall_getcwd", "", []uint64{64<<10 - 2, 100}, efault},
		{"__syscall_getdents64", "", []uint64{99, bufferAt, 1000}, ebadf},
		{"fd_seek", "", []uint64{1, 0, 0, resultAt}, -espipe},
		{"fd_seek", "", []uint64{99, 0, 0, resultAt}, -ebadf},
		{"fd_read", "", []uint64{0, listAt, 1, 64 << 10}, -efault},
		{"fd_write", "", []uint64{1, 64<<10 - 4, 1, resultAt}, -efault},
		{"__syscall_poll", "", nil, enosys},
	} {
		p.put(pathAt, tt.path)
		if got := p.call(tt.name, tt.args...); got != -tt.want {
			t.Errorf("%s %.20q %v: got %d, want %d", tt.name, tt.path, tt.args, got, -tt.want)
		}
	}
}

func TestRename(t *testing.T) {
	p := newProgram(t)
	fd := p.open("a", 2|openCreate)
	for _, tt := range []struct {
		from, to string
		want     int32
	}{
		{"a", "b", 0}, {"a", "c", -enoent}, {"b", "/lib/b", -erofs}, {"/lib/neopixel.py", "b", -erofs}, {"b", "b.mpy", -eacces}, {"b", "b", 0},
	} {
		if got := p.call("__syscall_renameat", 0, p.put(pathAt, tt.from), 0, p.put(secondAt, tt.to)); got != tt.want {
			t.Errorf("%s to %s: got %d, want %d", tt.from, tt.to, got, tt.want)
		}
	}
	p.write(fd, "moved")
	if got := p.read(p.open("b", 0), 10); got != "moved" {
		t.Errorf("an open file under its new name: got %q", got)
	}
}

// Handles of jobs past are taken back when the running one needs them; its own are not.
func TestHandlesTakenBack(t *testing.T) {
	p := newProgram(t)
	p.call("fd_close", uint64(p.open("a", 1|openCreate)))
	var held []int32
	for range limits.VMOpenFiles {
		held = append(held, p.open("a", 0))
	}
	if got := p.open("a", 0); got != -emfile {
		t.Errorf("one too many: got %d, want %d", got, -emfile)
	}
	p.tree.Begin(2)
	if got := p.open("a", 0); got <= held[len(held)-1] {
		t.Errorf("next job: got %d, want a number that was not used", got)
	}
	if n := len(p.tree.open); n != limits.VMOpenFiles {
		t.Errorf("got %d handles, want %d", n, limits.VMOpenFiles)
	}
}

// What a refusal was about is told of the number that it had, until the next job.
func TestFaultText(t *testing.T) {
	p := newProgram(t)
	p.open("none", 0)
	if got := p.tree.FaultText(enoent); !strings.HasPrefix(got, "/flash/none: ") {
		t.Errorf("got %q", got)
	}
	if got := p.tree.FaultText(eacces); got != "" {
		t.Errorf("another number: got %q", got)
	}
	p.tree.Begin(2)
	if got := p.tree.FaultText(enoent); got != "" {
		t.Errorf("next job: got %q", got)
	}
}

// A write of any length reaches the guard in pieces that a record carries.
func TestLongWrite(t *testing.T) {
	p := newProgram(t)
	h, errno := p.tree.openFlash("/long", 1|openCreate, false)
	if errno != 0 {
		t.Fatalf("open: error %d", errno)
	}
	p.asked = nil
	n, errno := p.tree.writeFlash(h, make([]byte, limits.BusBytes*2+1))
	if n != limits.BusBytes*2+1 || errno != 0 || len(p.asked) != 3 {
		t.Errorf("got %d bytes, error %d, %d calls, want all in 3", n, errno, len(p.asked))
	}
	for _, c := range p.asked {
		if len(c.Data) > limits.BusBytes {
			t.Errorf("a call of %d bytes", len(c.Data))
		}
	}
}
