package files

import (
	"encoding/binary"
	"testing"
	"testing/fstest"

	"github.com/pal-terminal/pal/hw"
)

// The engine may pass anything and the guard may answer anything: a call answers, and reads and writes no memory but the engine's.
func FuzzCalls(f *testing.F) {
	names := []string{
		"__syscall_chdir", "__syscall_mkdirat", "__syscall_rmdir", "__syscall_unlinkat", "__syscall_renameat", "__syscall_openat",
		"__syscall_stat64", "__syscall_statfs64", "__syscall_getcwd", "__syscall_getdents64", "fd_sync", "fd_seek", "fd_read", "fd_write", "fd_close",
	}
	f.Add([]byte("/flash/a\x00f\x05\x00\x00\x00a\x00"), []byte{5, 0, 0, 0, 0, 0, 0, 0, 0, 12, 3, 0, 0, 64, 0, 1, 0, 0, 32, 0}, int32(0), int64(5))
	f.Add([]byte("..\x00"), []byte{9, 3, 0, 0, 0, 255, 255, 255, 255, 9}, int32(21), int64(-1))
	f.Fuzz(func(t *testing.T, content, script []byte, errno int32, value int64) {
		mem := make(memory, 1<<12)
		copy(mem, content)
		asked := 0
		tree := New(Host{
			Ask: func(hw.Call) *hw.Reply {
				if asked++; asked > 1000 { // a file of one byte a call takes a million of them
					return &hw.Reply{}
				}
				return &hw.Reply{Errno: errno, Value: value, Extra: value, Data: content}
			},
			Print:  func(hw.Stream, []byte) {},
			Source: func(s string) string { return s },
		})
		if err := tree.AddLibrary(fstest.MapFS{"lib/a.py": {Data: content}}); err != nil {
			t.Fatal(err)
		}
		calls := tree.Calls()
		for len(script) >= 9 {
			name := names[int(script[0])%len(names)]
			s := make([]uint64, 8)
			for k := range 4 { // numbers up to 64 Ki, which begin with small ones and end past the memory
				s[k] = uint64(binary.LittleEndian.Uint16(script[1+2*k:]))
			}
			calls[name](mem, s)
			script = script[9:]
		}
	})
}

// FuzzParseList: whatever the guard answers, names are taken from within it.
func FuzzParseList(f *testing.F) {
	f.Add([]byte("f\x00\x00\x00\x00a\x00d\x00\x00\x00\x00b\x00"))
	f.Add([]byte("f\x00\x00\x00\x00no end"))
	f.Fuzz(func(t *testing.T, p []byte) {
		total := 0
		for _, e := range parseList(p) {
			total += 5 + len(e.name) + 1
		}
		if total > len(p) {
			t.Errorf("got names of %d bytes out of %d", total, len(p))
		}
	})
}
