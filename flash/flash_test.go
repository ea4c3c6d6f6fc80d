//go:build unix

package flash

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func (s *Store) hook(f func(step, name string) error) { s.disk.hook.Store(&f) }

// again opens what another store has left.
func again(t testing.TB, s *Store, dir string) *Store {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, dir)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func errno(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Errno
	}
	return 0
}

func call(s *Store, r Rights, op int64, path string, b, c int64, data string) hw.Reply {
	return s.Call(r, hw.Call{Op: hw.OpFile, A: op, B: b, C: c, Text: path, Data: []byte(data)})
}

func content(s *Store, path string) string {
	data, err := s.Read(Full, path)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func paths(t testing.TB, s *Store) string {
	t.Helper()
	list, err := s.List(Full, "/", true)
	must(t, err)
	var all []string
	for _, i := range list {
		all = append(all, i.Path)
	}
	return strings.Join(all, " ")
}

// both runs a test on a store in memory and on one with a folder.
func both(t *testing.T, f func(t *testing.T, s *Store)) {
	t.Run("memory", func(t *testing.T) { f(t, open(t, "")) })
	t.Run("disk", func(t *testing.T) { f(t, open(t, t.TempDir())) })
}

func TestProgramFiles(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		want := func(what string, got hw.Reply, errno int32) hw.Reply {
			t.Helper()
			if got.Errno != errno {
				t.Errorf("%s: got %d %s, want %d", what, got.Errno, got.Text, errno)
			}
			return got
		}
		want("create", call(s, Full, hw.FileCreate, "/a.txt", 1, 0, ""), 0)
		want("create again", call(s, Full, hw.FileCreate, "/a.txt", 1, 0, ""), eEXIST)
		if r := want("write", call(s, Full, hw.FileWrite, "/a.txt", 0, 0, "hello"), 0); r.Value != 5 {
			t.Errorf("got %d bytes written, want 5", r.Value)
		}
		want("append", call(s, Full, hw.FileWrite, "/a.txt", -1, 0, " you"), 0)
		want("past the end", call(s, Full, hw.FileWrite, "/a.txt", 11, 0, "!"), 0)
		if r := want("read", call(s, Full, hw.FileRead, "/a.txt", 6, 100, ""), 0); string(r.Data) != "you\x00\x00!" {
			t.Errorf("got %q, want the end with a gap of zeros", r.Data)
		}
		want("cut", call(s, Full, hw.FileResize, "/a.txt", 5, 0, ""), 0)
		want("longer", call(s, Full, hw.FileResize, "/a.txt", 6, 0, ""), 0)
		if got := content(s, "/a.txt"); got != "hello\x00" {
			t.Errorf("got %q, want hello and a zero", got)
		}
		want("mkdir", call(s, Full, hw.FileMkdir, "/lib", 0, 0, ""), 0)
		want("mkdir again", call(s, Full, hw.FileMkdir, "/lib", 0, 0, ""), eEXIST)
		want("mkdir without parent", call(s, Full, hw.FileMkdir, "/x/y", 0, 0, ""), eNOENT)
		want("rename", call(s, Full, hw.FileRename, "/a.txt", 0, 0, "/lib/ä b.txt"), 0)
		if r := want("list", call(s, Full, hw.FileList, "/", 0, 0, ""), 0); string(r.Data) != "d\x00\x00\x00\x00lib\x00" {
			t.Errorf("got listing %q", r.Data)
		}
		if r := want("list lib", call(s, Full, hw.FileList, "/lib", 0, 0, ""), 0); string(r.Data) != "f\x06\x00\x00\x00ä b.txt\x00" {
			t.Errorf("got listing %q", r.Data)
		}
		if r := want("stat folder", call(s, Full, hw.FileStat, "/lib", 0, 0, ""), 0); r.Value != -1 {
			t.Errorf("got %d, want a folder", r.Value)
		}
		want("rmdir full", call(s, Full, hw.FileRmdir, "/lib", 0, 0, ""), eNOTEMPTY)
		want("remove folder", call(s, Full, hw.FileRemove, "/lib", 0, 0, ""), eISDIR)
		want("rmdir file", call(s, Full, hw.FileRmdir, "/lib/ä b.txt", 0, 0, ""), eNOTDIR)
		want("into itself", call(s, Full, hw.FileRename, "/lib", 0, 0, "/lib/sub"), eINVAL)
		want("empty", call(s, Full, hw.FileCreate, "/lib/ä b.txt", 2, 0, ""), 0)
		want("sync", call(s, Full, hw.FileSync, "/lib/ä b.txt", 0, 0, ""), 0)
		want("remove", call(s, Full, hw.FileRemove, "/lib/ä b.txt", 0, 0, ""), 0)
		want("rmdir", call(s, Full, hw.FileRmdir, "/lib", 0, 0, ""), 0)
		if r := want("free", call(s, Full, hw.FileFree, "/", 0, 0, ""), 0); r.Value != limits.FlashBytes || r.Extra != limits.FlashBytes || s.entries != 0 {
			t.Errorf("got %d of %d free and %d entries, want an empty flash", r.Value, r.Extra, s.entries)
		}
		want("unknown", call(s, Full, 99, "/", 0, 0, ""), eINVAL)
		want("negative offset", call(s, Full, hw.FileRead, "/gone", -5, -1, ""), eNOENT)
	})
}

func TestBadPaths(t *testing.T) {
	s := open(t, t.TempDir())
	for path, want := range map[string]int{
		"": eINVAL, "a": eINVAL, "/..": eINVAL, "/../x": eINVAL, "/a/../../x": eINVAL, "/./a": eINVAL, "//a": eINVAL, "/a/": eINVAL,
		"/a\x00b": eINVAL, "/\xff": eINVAL, "/" + strings.Repeat("n", 256): eNAMETOOLONG, strings.Repeat("/abc", 300): eNAMETOOLONG,
		"/a.mpy": eACCES, "/A.MPY": eACCES, "/.pal": eACCES, "/.pal/rights": eACCES, "/.pal/x": eACCES, "/": eISDIR,
	} {
		if got := errno(s.Write(Full, path, nil)); got != want {
			t.Errorf("write %.20q: got %d, want %d", path, got, want)
		}
		for _, op := range []int64{hw.FileWrite, hw.FileCreate, hw.FileMkdir, hw.FileRemove, hw.FileRmdir, hw.FileResize} {
			if r := call(s, Full, op, path, 0, 0, "x"); r.Errno == 0 {
				t.Errorf("call %d on %.20q: got it done", op, path)
			}
		}
	}
	must(t, s.Write(Full, "/ok", nil))
	if r := call(s, Full, hw.FileRename, "/ok", 0, 0, "/../ok"); r.Errno != eINVAL {
		t.Errorf("rename out: got %d, want %d", r.Errno, eINVAL)
	}
}

// Names are kept as they are: two that look the same are two.
func TestUnicodeNames(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	composed, decomposed := "/caf\u00e9", "/cafe\u0301"
	must(t, s.Write(Full, composed, []byte("1")))
	must(t, s.Write(Full, decomposed, []byte("2")))
	must(t, s.Write(Full, "/日本/🙂.txt", []byte("3")))
	s = again(t, s, dir)
	if content(s, composed) != "1" || content(s, decomposed) != "2" || content(s, "/日本/🙂.txt") != "3" {
		t.Errorf("got %s, want three files", paths(t, s))
	}
}

func TestQuota(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		whole := make([]byte, limits.FileBytes)
		for i := range limits.FlashBytes / limits.FileBytes {
			must(t, s.Write(Full, fmt.Sprintf("/%d", i), whole))
		}
		if got := errno(s.Write(Full, "/more", []byte("x"))); got != eNOSPC {
			t.Errorf("write past the quota: got %d, want ENOSPC", got)
		}
		if got := errno(s.Write(Full, "/0", append(whole, 1))); got != eNOSPC {
			t.Errorf("file past its bound: got %d, want ENOSPC", got)
		}
		must(t, s.Write(Full, "/0", whole)) // replacing needs no room
		must(t, s.Write(Full, "/0", nil))
		for i := range limits.FlashFiles {
			if err := s.Write(Full, fmt.Sprintf("/f%d", i), nil); err != nil {
				if errno(err) != eNOSPC || s.entries != limits.FlashFiles {
					t.Errorf("file %d: got %v at %d entries", i, err, s.entries)
				}
				must(t, s.Rename(Full, "/0", "/renamed")) // which needs no entry more
				return
			}
		}
		t.Error("got more files than there may be")
	})
}

// A listing must fit one reply, so a folder takes only as many names.
func TestListingFits(t *testing.T) {
	s := open(t, "")
	for i := range limits.FlashFiles {
		_ = s.Write(Full, fmt.Sprintf("/%03d%s", i, strings.Repeat("n", 252)), nil)
	}
	if r := call(s, Full, hw.FileList, "/", 0, 0, ""); len(r.Data) > replyBytes || len(r.Data) < replyBytes/2 {
		t.Errorf("got a listing of %d bytes, want one that fits %d", len(r.Data), replyBytes)
	}
}

func TestRights(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	must(t, s.Write(Reading, "/weak.py", []byte("w")))
	must(t, s.Write(Reading, "/data.txt", []byte("d")))
	must(t, s.Write(Full, "/strong.py", []byte("s")))
	must(t, s.Write(Reading, "/dir/weak.py", []byte("w")))
	for range 2 {
		for _, test := range []struct {
			r    Rights
			path string
			want int32
		}{
			{Full, "/weak.py", eACCES}, {Asking, "/weak.py", eACCES}, {Reading, "/weak.py", 0}, {Full, "/data.txt", 0},
			{Reading, "/strong.py", 0}, {Full, "/strong.py", 0}, {Full, "/dir/weak.py", eACCES},
		} {
			if r := call(s, test.r, hw.FileRead, test.path, 0, 10, ""); r.Errno != test.want {
				t.Errorf("%v reads %s: got %d, want %d", test.r, test.path, r.Errno, test.want)
			}
		}
		if content(s, "/weak.py") != "w" {
			t.Error("a person cannot look at the text")
		}
		for what, err := range map[string]error{
			"write": s.Write(Reading, "/strong.py", nil), "remove": s.Remove(Asking, "/strong.py", false), "move": s.Rename(Reading, "/strong.py", "/x"),
			"replace": s.Rename(Reading, "/weak.py", "/strong.py"),
		} {
			if errno(err) != eACCES {
				t.Errorf("%s by code of fewer rights: got %v, want a refusal", what, err)
			}
		}
		for _, op := range []int64{hw.FileWrite, hw.FileResize, hw.FileRemove} {
			if r := call(s, Reading, op, "/strong.py", 0, 0, "x"); r.Errno != eACCES {
				t.Errorf("call %d by code of fewer rights: got %d, want a refusal", op, r.Errno)
			}
		}
		s = again(t, s, dir) // and once more after a restart
	}
	// The rights go with the contents.
	must(t, s.Rename(Full, "/data.txt", "/data.py"))
	must(t, s.Rename(Full, "/dir", "/moved"))
	if r := call(s, Full, hw.FileWrite, "/weak.py", -1, 0, "more"); r.Errno != 0 {
		t.Errorf("append by code of more rights: got %d", r.Errno)
	}
	s = again(t, s, dir)
	for _, path := range []string{"/data.py", "/weak.py", "/moved/weak.py"} {
		if r := call(s, Full, hw.FileRead, path, 0, 10, ""); r.Errno != eACCES {
			t.Errorf("%s: got %d, want it refused still", path, r.Errno)
		}
	}
	// A file written anew is its writer's.
	must(t, s.Write(Full, "/weak.py", []byte("new")))
	s = again(t, s, dir)
	if r := call(s, Full, hw.FileRead, "/weak.py", 0, 10, ""); string(r.Data) != "new" {
		t.Errorf("got %+v, want the new file", r)
	}
	// Nothing is known of rights: the fewest to read, the most to change.
	must(t, s.Close())
	must(t, os.WriteFile(filepath.Join(dir, rightsFile), []byte("rubbish"), 0o600))
	s = open(t, dir)
	if r := call(s, Full, hw.FileRead, "/strong.py", 0, 10, ""); r.Errno != eACCES {
		t.Errorf("damaged record, read: got %d, want a refusal", r.Errno)
	}
	if err := s.Write(Asking, "/strong.py", nil); errno(err) != eACCES {
		t.Errorf("damaged record, write: got %v, want a refusal", err)
	}
	must(t, s.Write(Reading, "/other.py", nil)) // which writes the record anew
	s = again(t, s, dir)
	if r := call(s, Full, hw.FileRead, "/strong.py", 0, 10, ""); r.Errno != eACCES {
		t.Errorf("damaged record, after a restart: got %d, want a refusal", r.Errno)
	}
}

// What lies in the folder and cannot be is left alone and not shown.
func TestPlanted(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(out, "secret"), []byte("s"), 0o600))
	must(t, os.Symlink(filepath.Join(out, "secret"), filepath.Join(dir, "link.txt")))
	must(t, os.Symlink(out, filepath.Join(dir, "folder")))
	must(t, os.WriteFile(filepath.Join(dir, "ok.py"), []byte("ok"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "a.mpy"), nil, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "\xff"), nil, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "big"), make([]byte, limits.FileBytes+1), 0o600))
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	s := open(t, dir)
	if got := paths(t, s); got != "/ok.py" {
		t.Errorf("got %q, want the file alone", got)
	}
	for _, path := range []string{"/link.txt", "/folder/x", "/pipe"} {
		_ = s.Write(Full, path, []byte("x"))
		call(s, Full, hw.FileCreate, path, 0, 0, "")
		call(s, Full, hw.FileWrite, path, 0, 0, "y")
	}
	if data, err := os.ReadFile(filepath.Join(out, "secret")); err != nil || string(data) != "s" {
		t.Errorf("outside: got %q %v, want it untouched", data, err)
	}
	list, err := os.ReadDir(out)
	if err != nil || len(list) != 1 {
		t.Errorf("outside: got %d files, want one", len(list))
	}
	// A link that is planted in place of a file that is known.
	must(t, os.Remove(filepath.Join(dir, "ok.py")))
	must(t, os.Symlink(filepath.Join(out, "secret"), filepath.Join(dir, "ok.py")))
	if r := call(s, Full, hw.FileWrite, "/ok.py", 0, 0, "x"); r.Errno == 0 {
		t.Error("got a write through a link")
	}
}

// At every step at which the power may go, what is found later is the old or the new, and code of fewer rights has not come to
// be run with more.
func TestCrash(t *testing.T) {
	script := func(s *Store) {
		_ = s.Write(Full, "/lib/a.py", []byte("strong 2"))
		_ = s.Write(Reading, "/weak.py", []byte("weak"))
		call(s, Asking, hw.FileCreate, "/ask.py", 1, 0, "")
		call(s, Asking, hw.FileWrite, "/ask.py", 0, 0, "weak")
		_ = s.Write(Reading, "/t.txt", []byte("weak"))
		_ = s.Rename(Full, "/t.txt", "/t.py")
		_ = s.Write(Full, "/was.py", []byte("strong"))
		_ = s.Remove(Full, "/weak.py", false)
		_ = s.sync("/")
		_ = s.Write(Full, "/weak.py", []byte("strong"))
		_ = s.Mkdir(Full, "/x/y")
		_ = s.Write(Reading, "/x/y/z.py", []byte("weak"))
		_ = s.Rename(Full, "/x", "/w")
	}
	power := errors.New("power is gone")
	for n, done := 0, false; !done; n++ {
		dir := t.TempDir()
		s := open(t, dir)
		must(t, s.Write(Full, "/lib/a.py", []byte("strong 1")))
		must(t, s.Write(Reading, "/was.py", []byte("weak")))
		var steps atomic.Int64 // the syncer takes some too
		s.hook(func(string, string) error {
			if steps.Add(1) > int64(n) {
				return power
			}
			return nil
		})
		script(s)
		done = steps.Load() <= int64(n)
		_ = s.Close()
		after := open(t, dir)
		if got := content(after, "/lib/a.py"); got != "strong 1" && got != "strong 2" {
			t.Errorf("cut at %d: got %q, want the old or the new", n, got)
		}
		list, err := after.List(Full, "/", true)
		must(t, err)
		for _, i := range list {
			r := call(after, Full, hw.FileRead, i.Path, 0, 100, "")
			if strings.HasSuffix(i.Path, ".py") && r.Errno == 0 && string(r.Data) == "weak" {
				t.Errorf("cut at %d: %s is run with more rights than it was written with", n, i.Path)
			}
		}
		if after.disk.temps.Load() != 0 {
			t.Error("got temporary files made by opening")
		}
		left, err := filepath.Glob(filepath.Join(dir, own, "new-*"))
		if err != nil || len(left) != 0 {
			t.Errorf("cut at %d: got %v left, want nothing", n, left)
		}
		if n > 200 {
			t.Fatal("the script never ends")
		}
	}
}

// A disk that is full or read-only gives its error, and nothing is lost that was there.
func TestDiskFails(t *testing.T) {
	for number, want := range map[syscall.Errno]int{syscall.ENOSPC: eNOSPC, syscall.EROFS: eROFS, syscall.EIO: eIO} {
		dir := t.TempDir()
		s := open(t, dir)
		must(t, s.Write(Full, "/a", []byte("old")))
		s.hook(func(string, string) error { return &os.PathError{Op: "write", Path: "x", Err: number} })
		for what, err := range map[string]error{
			"write": s.Write(Full, "/a", []byte("new")), "mkdir": s.Mkdir(Full, "/d"), "remove": s.Remove(Full, "/a", false), "move": s.Rename(Full, "/a", "/b"),
		} {
			if errno(err) != want {
				t.Errorf("%s: got %v, want %d", what, err, want)
			}
		}
		for _, op := range []int64{hw.FileWrite, hw.FileResize, hw.FileSync} {
			if r := call(s, Full, op, "/a", 0, 0, "NEW"); r.Errno != int32(want) {
				t.Errorf("call %d: got %d, want %d", op, r.Errno, want)
			}
		}
		if got := content(s, "/a"); got != "old" {
			t.Errorf("got %q, want the old contents", got)
		}
		s.hook(func(string, string) error { return nil })
		s = again(t, s, dir)
		if got := content(s, "/a"); got != "old" {
			t.Errorf("after a restart: got %q, want the old contents", got)
		}
	}
}

func TestClosed(t *testing.T) {
	s := open(t, t.TempDir())
	must(t, s.Close())
	must(t, s.Close())
	if err := s.Write(Full, "/a", nil); errno(err) != eROFS {
		t.Errorf("got %v, want EROFS", err)
	}
}

// Two writers and readers at once: counts stay right and a file is always somebody's whole.
func TestHammer(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	var wg sync.WaitGroup
	for w := range 3 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(w)))
			for i := range 60 {
				path := fmt.Sprintf("/d%d/f%d", random.IntN(2), random.IntN(3))
				switch random.IntN(6) {
				case 0:
					_ = s.Remove(Full, path, false)
				case 1:
					_ = s.Rename(Full, path, fmt.Sprintf("/d%d/g", random.IntN(2)))
				case 2:
					call(s, Full, hw.FileWrite, path, -1, 0, "tail")
				case 3:
					must(t, s.sync("/"))
				default:
					_ = s.Write(Rights(random.IntN(3)), path, []byte(strings.Repeat(fmt.Sprint(w), i)))
				}
				if _, err := s.List(Full, "/", true); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	entries, bytes := s.entries, s.bytes
	before, err := s.List(Full, "/", true)
	must(t, err)
	s = again(t, s, dir)
	after, err := s.List(Full, "/", true)
	must(t, err)
	if s.entries != entries || s.bytes != bytes {
		t.Errorf("after a restart: got %d entries and %d bytes, want %d and %d", s.entries, s.bytes, entries, bytes)
	}
	for _, list := range [][]Info{before, after} {
		for i := range list {
			list[i].Time = list[i].Time.Truncate(1)
			list[i].Time = after[0].Time
		}
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("before -, after +:\n%s", diff)
	}
}

func BenchmarkStat(b *testing.B) {
	s := open(b, b.TempDir())
	must(b, s.Write(Full, "/lib/sensors/aht20.py", make([]byte, 2000)))
	for b.Loop() {
		call(s, Full, hw.FileStat, "/lib/sensors/aht20.py", 0, 0, "")
	}
}

func BenchmarkRead(b *testing.B) {
	s := open(b, b.TempDir())
	must(b, s.Write(Full, "/lib/sensors/aht20.py", make([]byte, 2000)))
	for b.Loop() {
		call(s, Full, hw.FileRead, "/lib/sensors/aht20.py", 0, 4096, "")
	}
}

func BenchmarkAppend(b *testing.B) {
	s := open(b, b.TempDir())
	must(b, s.Write(Full, "/log.csv", nil))
	for i := 0; b.Loop(); i++ {
		if i%10_000 == 0 {
			call(s, Full, hw.FileResize, "/log.csv", 0, 0, "")
		}
		if r := call(s, Full, hw.FileWrite, "/log.csv", -1, 0, "12:00:00,23.5,41.2\n"); r.Errno != 0 {
			b.Fatal(r.Text)
		}
	}
}
