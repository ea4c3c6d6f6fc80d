// Package storetest is the contract of [store.Disk] as a test suite: the real disk and the one in memory pass the same tests, so that
// what is proved on the one holds on the other.
package storetest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pal-terminal/pal/store"
)

// Run tests the disks that empty returns.
func Run(t *testing.T, empty func(t *testing.T) store.Disk) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, store.Disk){
		"files": files, "names": names, "folders": folders, "refused": refused, "handles": handles, "together": together, "replace": replace,
	} {
		t.Run(name, func(t *testing.T) { test(t, empty(t)) })
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("got %v, want %v", err, target)
	}
}

func create(t *testing.T, d store.Disk, name, text string) store.File {
	t.Helper()
	f, err := d.Open(name, true)
	must(t, err)
	_, err = f.WriteAt([]byte(text), 0)
	must(t, err)
	return f
}

func holds(t *testing.T, d store.Disk, name, text string) {
	t.Helper()
	if b, err := store.Read(d, name, 1<<20); err != nil || string(b) != text {
		t.Errorf("%s: got %q, %v, want %q", name, b, err, text)
	}
}

func lists(t *testing.T, d store.Disk, dir string, want ...string) {
	t.Helper()
	if got, err := d.List(dir); err != nil || !slices.Equal(got, want) {
		t.Errorf("files of %q: got %q, %v, want %q", dir, got, err, want)
	}
}

func files(t *testing.T, d store.Disk) {
	_, err := d.Open("a", false)
	want(t, err, fs.ErrNotExist)
	f := create(t, d, "a", "hello")
	must(t, f.Sync())
	must(t, d.Sync(""))
	_, err = f.WriteAt([]byte("p!!"), 3)
	must(t, err)
	holds(t, d, "a", "help!!")
	b := make([]byte, 4)
	if n, err := f.ReadAt(b, 1); n != 4 || err != nil || string(b) != "elp!" {
		t.Errorf("got %q, %v", b[:n], err)
	}
	if n, err := f.ReadAt(b, 4); n != 2 || !errors.Is(err, io.EOF) || string(b[:n]) != "!!" {
		t.Errorf("over the end: got %q, %v", b[:n], err)
	}
	if n, err := f.ReadAt(b, 9); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("past the end: got %d, %v", n, err)
	}
	must(t, f.Truncate(2))
	holds(t, d, "a", "he")
	must(t, f.Truncate(4))
	holds(t, d, "a", "he\x00\x00")
	_, err = f.WriteAt([]byte("x"), 6)
	must(t, err)
	holds(t, d, "a", "he\x00\x00\x00\x00x")
	if n, err := f.Size(); n != 7 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	if _, err := f.ReadAt(b, -1); err == nil {
		t.Error("read before the beginning")
	}
	if _, err := f.WriteAt(b, -1); err == nil {
		t.Error("wrote before the beginning")
	}
	if _, err := store.Read(d, "a", 6); err == nil {
		t.Error("read more than the limit")
	}
	if n, err := d.Free(); err != nil || n == 0 {
		t.Errorf("free: got %d, %v", n, err)
	}
	must(t, f.Close())
}

func names(t *testing.T, d store.Disk) {
	lists(t, d, "")
	for _, name := range []string{"b", "a", "c"} {
		must(t, create(t, d, name, "is "+name).Close())
	}
	lists(t, d, "", "a", "b", "c")
	must(t, d.Rename("a", "b"))
	lists(t, d, "", "b", "c")
	holds(t, d, "b", "is a")
	must(t, d.Rename("b", "b"))
	holds(t, d, "b", "is a")
	must(t, d.Remove("c"))
	lists(t, d, "", "b")
	want(t, d.Remove("c"), fs.ErrNotExist)
	want(t, d.Rename("c", "b"), fs.ErrNotExist)
	holds(t, d, "b", "is a")
	must(t, d.Sync(""))
}

func folders(t *testing.T, d store.Disk) {
	_, err := d.Open("x/a", true)
	want(t, err, fs.ErrNotExist)
	lists(t, d, "x")
	want(t, d.Sync("x"), fs.ErrNotExist)
	must(t, d.Mkdir("x"))
	must(t, d.Mkdir("x"))
	must(t, d.Mkdir("y"))
	must(t, create(t, d, "x/a", "hello").Close())
	lists(t, d, "")
	lists(t, d, "x", "a")
	must(t, d.Rename("x/a", "y/b"))
	lists(t, d, "x")
	holds(t, d, "y/b", "hello")
	must(t, create(t, d, "top", "").Close())
	for name, err := range map[string]error{
		"rename a folder": d.Rename("x", "z"), "over a folder": d.Rename("y/b", "x"), "remove a folder": d.Remove("x"),
		"a folder over a file": d.Mkdir("top"), "into no folder": d.Rename("y/b", "z/b"), "a folder in a folder": d.Mkdir("x/z"),
	} {
		if err == nil {
			t.Errorf("%s: nothing was refused", name)
		}
	}
	if _, err := d.Open("x", true); err == nil {
		t.Error("opened a folder")
	}
	holds(t, d, "y/b", "hello")
	must(t, d.Sync("x"))
	must(t, d.Sync("y"))
}

func refused(t *testing.T, d store.Disk) {
	must(t, d.Mkdir("x"))
	must(t, create(t, d, "ok", "").Close())
	for _, name := range []string{"", ".", "..", "/a", "../a", "x/../a", "x/", "x//a", "x/y/z", "./a", "a\\b", "a\x00b"} {
		_, err := d.Open(name, true)
		want(t, err, fs.ErrInvalid)
		want(t, d.Remove(name), fs.ErrInvalid)
		want(t, d.Rename("ok", name), fs.ErrInvalid)
		want(t, d.Rename(name, "ok"), fs.ErrInvalid)
		want(t, d.Mkdir(name), fs.ErrInvalid)
		if store.Valid(name) {
			t.Errorf("%q is valid", name)
		}
	}
	lists(t, d, "", "ok")
}

func handles(t *testing.T, d store.Disk) {
	f := create(t, d, "a", "first")
	must(t, create(t, d, "b", "second").Close())
	must(t, d.Rename("b", "a"))
	_, err := f.WriteAt([]byte("F"), 0) // to the file that had the name
	must(t, err)
	must(t, f.Sync())
	holds(t, d, "a", "second")
	g, err := d.Open("a", true)
	must(t, err)
	must(t, d.Rename("a", "c"))
	_, err = g.WriteAt([]byte("S"), 0)
	must(t, err)
	holds(t, d, "c", "Second")
	must(t, errors.Join(f.Close(), g.Close()))
	_, err = g.ReadAt(make([]byte, 1), 0)
	want(t, err, fs.ErrClosed)
}

func together(t *testing.T, d store.Disk) {
	var all sync.WaitGroup
	must(t, d.Mkdir("x"))
	for n := range 8 {
		all.Go(func() {
			name, text := "x/"+string(rune('a'+n)), bytes.Repeat([]byte{byte('a' + n)}, 1000)
			for range 10 {
				f, err := d.Open("x/shared", true)
				if err == nil {
					err = f.Close()
				}
				if err := errors.Join(err, store.Replace(d, name, text)); err != nil {
					t.Error(err)
				}
				if _, err := d.List("x"); err != nil {
					t.Error(err)
				}
			}
			if b, err := store.Read(d, name, 1000); err != nil || !bytes.Equal(b, text) {
				t.Errorf("%s: got %q, %v", name, b, err)
			}
		})
	}
	all.Wait()
	lists(t, d, "x", "a", "b", "c", "d", "e", "f", "g", "h", "shared")
}

func replace(t *testing.T, d store.Disk) {
	must(t, d.Mkdir("x"))
	must(t, create(t, d, "x/a.new", strings.Repeat("left by a crash", 100)).Close())
	for _, text := range []string{"first", "", strings.Repeat("long", 100_000), "short"} {
		must(t, store.Replace(d, "x/a", []byte(text)))
		holds(t, d, "x/a", text)
		lists(t, d, "x", "a")
	}
	if err := store.Replace(d, "y/a", nil); err == nil {
		t.Error("replaced a file of no folder")
	}
}
