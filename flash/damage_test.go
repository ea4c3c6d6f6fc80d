//go:build unix

package flash

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

// Whatever has become of the record of rights, code of fewer rights is not run with more, and what is written from then on is
// whose it is.
func TestDamagedRecord(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	must(t, s.Write(Reading, "/weak.py", []byte("weak")))
	must(t, s.Write(Asking, "/a \"b\"\n.py", []byte("weak")))
	must(t, s.Write(Full, "/strong.py", []byte("strong")))
	must(t, s.Close())
	record := filepath.Join(dir, rightsFile)
	whole, err := os.ReadFile(record)
	must(t, err)
	var damaged [][]byte
	for i := range whole {
		damaged = append(damaged, whole[:i], whole[i+1:], bytes.Replace(whole, whole[i:i+1], []byte("x"), 1))
		flipped := bytes.Clone(whole)
		flipped[i] ^= 1 << (i % 8)
		damaged = append(damaged, flipped)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	damaged = append(damaged, bytes.Join(append(lines[:1:1], lines[2:]...), nil), append(bytes.Clone(whole), "full \"/weak.py\"\n"...), make([]byte, len(whole)))
	for _, text := range damaged {
		if bytes.Equal(text, whole) {
			continue
		}
		must(t, os.WriteFile(record, text, 0o600))
		s := open(t, dir)
		for _, path := range []string{"/weak.py", "/a \"b\"\n.py", "/strong.py"} {
			for _, r := range []Rights{Asking, Full} {
				if got := call(s, r, hw.FileRead, path, 0, 10, ""); got.Errno != eACCES {
					t.Fatalf("record %q: %q is read by code of rights %v", text, path, r)
				}
			}
			if err := s.Write(Asking, path, nil); errno(err) != eACCES {
				t.Fatalf("record %q: %q is changed by code of fewer rights: %v", text, path, err)
			}
		}
		must(t, s.Close())
	}
	s = open(t, dir)
	must(t, s.Write(Full, "/new.py", []byte("new")))
	must(t, s.Write(Full, "/strong.py", []byte("again")))
	s = again(t, s, dir)
	for path, want := range map[string]string{"/new.py": "new", "/strong.py": "again"} {
		if got := call(s, Full, hw.FileRead, path, 0, 10, ""); string(got.Data) != want {
			t.Errorf("%s, written after the damage: got %+v, want %q", path, got, want)
		}
	}
	if got := call(s, Full, hw.FileRead, "/weak.py", 0, 10, ""); got.Errno != eACCES {
		t.Errorf("/weak.py after two restarts: got %+v", got)
	}
}

// A record that cannot be read, or written anew, is a damaged one still.
func TestRecordIsNoFile(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	must(t, s.Write(Full, "/strong.py", []byte("strong")))
	must(t, s.Close())
	must(t, os.MkdirAll(filepath.Join(dir, rightsFile, "sub"), 0o700))
	for range 2 {
		s = open(t, dir)
		if got := call(s, Full, hw.FileRead, "/strong.py", 0, 10, ""); got.Errno != eACCES {
			t.Errorf("got %+v, want a refusal", got)
		}
		if err := s.Write(Reading, "/weak.py", nil); err == nil {
			t.Error("got a file of fewer rights that no record tells of")
		}
		must(t, s.Close())
	}
	if _, err := os.Lstat(filepath.Join(dir, "weak.py")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want no file on the disk", err)
	}
}

// Many writers race for what is left: no more than the quota is taken, in memory as on the disk, and what was refused is not there.
func TestQuotaRace(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		const writers = 6
		size := limits.FlashBytes/writers + limits.FlashBytes/writers/2 // four of six fit
		data := make([]byte, min(size, limits.FileBytes))
		fit := limits.FlashBytes / len(data)
		var wg sync.WaitGroup
		done := make([]error, writers)
		for w := range writers {
			wg.Go(func() { done[w] = s.Write(Full, fmt.Sprintf("/%d", w), data) })
		}
		wg.Wait()
		written := 0
		for w, err := range done {
			_, there := s.Stat(Full, fmt.Sprintf("/%d", w))
			switch {
			case err == nil:
				written++
			case errno(err) != eNOSPC:
				t.Errorf("writer %d: got %v", w, err)
			}
			if (err == nil) != (there == nil) {
				t.Errorf("writer %d: got %v, and the file %v", w, err, there)
			}
		}
		if free, total := s.Free(); written != fit || free != total-int64(written*len(data)) {
			t.Errorf("got %d files written and %d bytes free, want %d files", written, free, fit)
		}
		if s.disk.there() {
			left, err := filepath.Glob(filepath.Join(s.disk.root.Name(), own, "new-*"))
			if err != nil || len(left) != 0 {
				t.Errorf("got %v left of what was refused", left)
			}
		}
	})
}

func TestNamesAtTheirBounds(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		longest := strings.Repeat("日", limits.FileNameBytes/3) // 255 bytes, 85 letters
		for path, want := range map[string]int{
			"/" + longest: 0, "/" + longest + "x": eNAMETOOLONG, "/" + longest[:254]: eINVAL, "/d/" + longest: 0, "/" + longest + "/x": eNOTDIR,
			"/..a": 0, "/...": 0, "/a..": 0, "/ ": 0, "/\n": 0, "/-rf": 0, "/a\\b": 0, "/C:": 0, "/\u202e": 0, "/a//b": eINVAL, "/d/": eINVAL, "//": eINVAL,
			"/d/.": eINVAL, "/d/..": eINVAL, "/d/../../x": eINVAL, "../x": eINVAL, "x": eINVAL, "\x00": eINVAL, "/x\x00": eINVAL, "/d/\xc3": eINVAL,
			"/d/.pal": 0, "/.palette": 0, "/.pal/../x": eINVAL, "/d/x.mPy": eACCES, "/x.mpy/y": eACCES, "/x.mpy.txt": 0,
		} {
			if strings.HasSuffix(path, longest+"/x") {
				must(t, s.Write(Full, "/"+longest, nil))
			}
			if got := errno(s.Write(Full, path, []byte("x"))); got != want {
				t.Errorf("write %.40q: got %d, want %d", path, got, want)
			}
			if _, err := s.Stat(Full, path); want == 0 && err != nil {
				t.Errorf("stat %.40q: %v", path, err)
			}
		}
		for _, to := range []string{"/y/", "/../y", "y", "/y\x00", "/.pal/y", "/y.mpy", "/" + longest + "x", "/"} {
			if err := s.Rename(Full, "/a..", to); err == nil {
				t.Errorf("rename to %.40q: got it done", to)
			}
		}
		if got := content(s, "/a.."); got != "x" {
			t.Errorf("after the renames: got %q", got)
		}
	})
}

// A folder that somebody on the host puts a link in place of while the store is open: nothing outside is touched, and nothing is
// reported done that is not.
func TestLinkPlantedWhileOpen(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(out, "a.txt"), []byte("outside"), 0o600))
	s := open(t, dir)
	for _, to := range []string{out, "../" + filepath.Base(out), ".."} {
		must(t, s.Write(Full, "/lib/a.txt", []byte("old")))
		must(t, os.RemoveAll(filepath.Join(dir, "lib")))
		must(t, os.Symlink(to, filepath.Join(dir, "lib")))
		for what, err := range map[string]error{
			"replace": s.Write(Full, "/lib/a.txt", []byte("new")), "new file": s.Write(Full, "/lib/b.txt", []byte("new")), "mkdir": s.Mkdir(Full, "/lib/d"),
			"move in": s.Rename(Full, "/lib/a.txt", "/lib/c.txt"), "remove": s.Remove(Full, "/lib/a.txt", false),
		} {
			if err == nil {
				t.Errorf("%s through a link to %s: got it done", what, to)
			}
		}
		for _, op := range []int64{hw.FileWrite, hw.FileResize} {
			if r := call(s, Full, op, "/lib/a.txt", 0, 0, "new"); r.Errno == 0 {
				t.Errorf("call %d through a link to %s: got it done", op, to)
			}
		}
		if got := content(s, "/lib/a.txt"); got != "old" {
			t.Errorf("got %q, want what there was", got)
		}
		must(t, s.Remove(Full, "/lib", true)) // the link goes, not what it shows
		if _, err := os.Lstat(filepath.Join(dir, "lib")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("got the link still: %v", err)
		}
		if list, err := os.ReadDir(out); err != nil || len(list) != 1 {
			t.Fatalf("outside: got %v, %v, want one file", list, err)
		}
		if data, err := os.ReadFile(filepath.Join(out, "a.txt")); err != nil || string(data) != "outside" {
			t.Fatalf("outside: got %q, %v, want it untouched", data, err)
		}
	}
}

// What is taken for a record is one that a store could have written, and reads the same again.
func FuzzRecord(f *testing.F) {
	for _, lines := range []string{"", "reading \"/a.py\"\n", "asking \"/\\u65e5\"\nlost \"/b\"\n", "full \"/a\"\n", "reading /a\n"} {
		f.Add(lines+recordEnd(lines), lines)
	}
	f.Add("reading \"/a.py\"\n", "\n")
	var d disk
	must(f, d.open(f.TempDir()))
	f.Cleanup(func() { d.root.Close() })
	f.Fuzz(func(t *testing.T, raw, lines string) {
		for _, text := range []string{raw, lines + recordEnd(lines)} {
			must(t, d.root.WriteFile(rightsFile, []byte(text), 0o600))
			rights, damaged := d.readRights()
			if damaged && len(rights) != 0 {
				t.Fatalf("got %v of a damaged record %q", rights, text)
			}
			for path, r := range rights {
				if r != Reading && r != Asking && r != lost {
					t.Fatalf("got rights %v of %q", r, path)
				}
			}
			if !damaged && text == raw && !strings.HasSuffix(raw, recordEnd(raw[:len(raw)-len(recordEnd(""))])) {
				t.Fatalf("got %q taken for a whole record", raw)
			}
		}
	})
}
