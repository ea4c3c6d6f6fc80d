package files

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/flash"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// desk is a desk in a test, with a store in dir, or in memory when that is empty.
type desk struct {
	*Desk
	t     *testing.T
	store *flash.Store
}

func open(t *testing.T, dir string) *desk {
	t.Helper()
	s, err := flash.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &desk{Desk: New(s), t: t, store: s}
}

// ask performs a request and returns its answer and the code of a refusal.
func (d *desk) ask(who string, f protocol.FS) (protocol.FSAnswer, protocol.Code) {
	d.t.Helper()
	a, err := d.Do(who, flash.Full, nil, &f)
	if err != nil {
		return protocol.FSAnswer{}, protocol.Refuse(nil, err).Code
	}
	answer, ok := a.(protocol.FSAnswer)
	if !ok {
		d.t.Fatalf("got %T", a)
	}
	return answer, ""
}

// want performs a request that is to end with a code.
func (d *desk) want(what, who string, f protocol.FS, want protocol.Code) protocol.FSAnswer {
	d.t.Helper()
	a, got := d.ask(who, f)
	if got != want {
		d.t.Errorf("%s: got %q, want %q", what, got, want)
	}
	return a
}

// content is a file's, or why there is none.
func (d *desk) content(path string) string {
	data, err := d.store.Read(flash.Full, path)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func hash(data string) string {
	sum := sha256.Sum256([]byte(data))
	return hex.EncodeToString(sum[:])
}

func part(path string, offset int, data string) protocol.FS {
	return protocol.FS{Op: "put", Path: path, Offset: int64(offset), Data: []byte(data)}
}

func last(path string, offset int, data, whole string) protocol.FS {
	f := part(path, offset, data)
	f.SHA256 = hash(whole)
	return f
}

const nothing = "read /a: no such file or folder"

func TestPutInParts(t *testing.T) {
	d := open(t, t.TempDir())
	if a := d.want("first", "x", part("/a", 0, "one "), ""); a.Size != 4 || a.SHA256 != "" {
		t.Errorf("first: got %+v, want the size so far", a)
	}
	d.want("second", "x", part("/a", 4, "two "), "")
	if got := d.content("/a"); got != nothing {
		t.Errorf("got %q before the last part", got)
	}
	f := last("/a", 8, "three", "one two three")
	f.SHA256 = strings.ToUpper(f.SHA256)
	if a := d.want("last", "x", f, ""); a.Size != 13 || a.SHA256 != hash("one two three") {
		t.Errorf("last: got %+v", a)
	}
	if got := d.content("/a"); got != "one two three" {
		t.Errorf("got %q", got)
	}
	d.want("after the last", "x", part("/a", 13, "four"), protocol.CodeConflict)
	d.want("an empty last part", "x", part("/b", 0, "b"), "")
	d.want("an empty last part", "x", last("/b", 1, "", "b"), "")
	d.want("empty", "x", last("/c", 0, "", ""), "")
	if got := d.content("/b") + "," + d.content("/c"); got != "b," {
		t.Errorf("got %q", got)
	}
}

// A part that does not follow ends the put: neither a gap nor an overlap can come to be in a file.
func TestOffsetsOutOfOrder(t *testing.T) {
	for _, tt := range []struct {
		name    string
		offsets []int // of parts of four bytes
	}{
		{"no first", []int{4}}, {"gap", []int{0, 8}}, {"repeated", []int{0, 4, 4}}, {"overlap", []int{0, 2}}, {"back", []int{0, 4, 8, 4}},
	} {
		d := open(t, "")
		n := len(tt.offsets) - 1
		for _, at := range tt.offsets[:n] {
			d.want(tt.name, "x", part("/a", at, "abcd"), "")
		}
		d.want(tt.name, "x", part("/a", tt.offsets[n], "abcd"), protocol.CodeConflict)
		d.want(tt.name+", afterwards", "x", last("/a", 4*n, "abcd", strings.Repeat("abcd", n+1)), map[bool]protocol.Code{true: protocol.CodeConflict}[n > 0])
		if want := map[bool]string{true: nothing, false: "abcd"}[n > 0]; d.content("/a") != want {
			t.Errorf("%s: got %q, want %q", tt.name, d.content("/a"), want)
		}
		d.want(tt.name+", anew", "x", last("/a", 0, "anew", "anew"), "")
		if got := d.content("/a"); got != "anew" {
			t.Errorf("%s: got %q, want what was put anew", tt.name, got)
		}
	}
}

func TestWrongHash(t *testing.T) {
	d := open(t, "")
	d.want("old", "x", last("/a", 0, "old", "old"), "")
	d.want("first", "x", part("/a", 0, "n"), "")
	f := last("/a", 1, "ew", "something else")
	_, err := d.Do("x", flash.Full, nil, &f)
	if res := protocol.Refuse(nil, err); res.Code != protocol.CodeBadRequest || !strings.Contains(res.Message, hash("new")) {
		t.Errorf("got %+v, want the hash of what came", res)
	}
	if got := d.content("/a"); got != "old" {
		t.Errorf("got %q, want what was there", got)
	}
	d.want("the end once more", "x", last("/a", 1, "ew", "new"), protocol.CodeConflict)
	d.want("no hash at all", "x", protocol.FS{Op: "put", Path: "/a", Data: []byte("x"), SHA256: "rubbish"}, protocol.CodeBadRequest)
}

// A put that is not ended leaves nothing that can be seen, and goes when others are heard of.
func TestAborted(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	d.want("first", "x", part("/a", 0, "begun"), "")
	if a := d.want("ls", "x", protocol.FS{Op: "ls", Path: "/", Deep: true}, ""); len(a.Entries) != 0 {
		t.Errorf("got %+v, want nothing", a.Entries)
	}
	if a := d.want("df", "x", protocol.FS{Op: "df"}, ""); a.Free != a.Total {
		t.Errorf("got %d of %d free", a.Free, a.Total)
	}
	d.want("somebody else's end", "y", last("/a", 5, "!", "begun!"), protocol.CodeConflict)
	for i := range limits.FileUploads - 1 {
		d.want("another", "x", part(fmt.Sprint("/", i), 0, "x"), "")
	}
	d.want("heard of again", "x", part("/a", 5, "."), "")
	d.want("one too many", "x", part("/more", 0, "x"), "")
	d.want("the one heard of first is gone", "x", part("/0", 1, "x"), protocol.CodeConflict)
	d.want("the one heard of lately is there", "x", last("/a", 6, "", "begun."), "")
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 { // the store's own folder and the file
		t.Errorf("got %v on the disk, %v", left, err)
	}
}

// Two clients put one path, part by part in turn: each is answered as if it were alone, and the last one's file is there.
func TestTwoInTurn(t *testing.T) {
	d := open(t, "")
	d.want("x", "x", part("/a", 0, "xx"), "")
	d.want("y", "y", part("/a", 0, "yyy"), "")
	d.want("x", "x", part("/a", 2, "xx"), "")
	d.want("y", "y", last("/a", 3, "y", "yyyy"), "")
	if got := d.content("/a"); got != "yyyy" {
		t.Errorf("got %q", got)
	}
	d.want("x", "x", last("/a", 4, "x", "xxxxx"), "")
	if got := d.content("/a"); got != "xxxxx" {
		t.Errorf("got %q", got)
	}
}

// At once, and under one name too: the file is always somebody's whole, and those who were refused were told.
func TestAtOnce(t *testing.T) {
	d := open(t, "")
	whole := func(c int) string { return strings.Repeat(string(rune('a'+c)), 3000+c) }
	var wg sync.WaitGroup
	for c := range 4 {
		who := []string{"x", "y", "same", "same"}[c]
		wg.Go(func() {
			for range 50 {
				text := whole(c)
				_, code := d.ask(who, part("/a", 0, text[:1000]))
				if code == "" {
					_, code = d.ask(who, part("/a", 1000, text[1000:2000]))
				}
				if code == "" {
					_, code = d.ask(who, last("/a", 2000, text[2000:], text))
				}
				if code != "" && who != "same" {
					t.Errorf("%s: got %q", who, code)
				}
				if got := d.content("/a"); got != nothing && (len(got) < 3000 || got != whole(len(got)-3000)) {
					t.Errorf("got a mix of %d bytes", len(got))
				}
			}
		})
	}
	wg.Wait()
}

func TestTooLarge(t *testing.T) {
	d := open(t, "")
	chunk := strings.Repeat("x", limits.FileChunk)
	for at := 0; at < limits.FileBytes; at += limits.FileChunk {
		d.want("part", "x", part("/a", at, chunk), "")
	}
	d.want("one byte more", "x", last("/a", limits.FileBytes, "x", ""), protocol.CodeTooLarge)
	d.want("given up", "x", last("/a", limits.FileBytes, "", ""), protocol.CodeConflict)
	if got := d.content("/a"); got != nothing {
		t.Errorf("got a file of %d bytes", len(got))
	}
}

// No room any more when the last part comes: the old file stays, and so it does when the disk itself fails.
func TestFull(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	chunk := strings.Repeat("x", limits.FileChunk)
	d.want("old", "x", last("/a", 0, "old", "old"), "")
	d.want("first", "x", part("/a", 0, chunk), "")
	for i := range limits.FlashBytes / limits.FileBytes {
		size := limits.FileBytes
		if i == 0 {
			size -= limits.FileChunk
		}
		if err := d.store.Write(flash.Full, fmt.Sprint("/", i), make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	d.want("full", "x", last("/a", limits.FileChunk, "x", chunk+"x"), protocol.CodeFull)
	if got := d.content("/a"); got != "old" {
		t.Errorf("got %d bytes, want the old file", len(got))
	}
	d.want("rm", "x", protocol.FS{Op: "rm", Path: "/0"}, "")
	d.want("again", "x", part("/a", 0, chunk), "")
	if err := os.RemoveAll(filepath.Join(dir, ".pal")); err != nil { // where the store makes its new files
		t.Fatal(err)
	}
	d.want("no disk", "x", last("/a", limits.FileChunk, "x", chunk+"x"), protocol.CodeStorage)
	if got := d.content("/a"); got != "old" {
		t.Errorf("got %d bytes, want the old file", len(got))
	}
}

func TestGetInParts(t *testing.T) {
	d := open(t, "")
	text := strings.Repeat("0123456789", limits.FileChunk/10+5)
	if err := d.store.Write(flash.Full, "/a", []byte(text)); err != nil {
		t.Fatal(err)
	}
	size := func(n int64) *int64 { return &n }
	for _, tt := range []struct {
		offset int
		size   *int64
		want   string
	}{
		{0, nil, text[:limits.FileChunk]}, {limits.FileChunk, nil, text[limits.FileChunk:]}, {len(text), nil, ""}, {len(text) + 1, nil, ""},
		{limits.FileBytes, nil, ""}, {3, size(4), "3456"}, {0, size(0), ""}, {0, size(1 << 40), text[:limits.FileChunk]}, {len(text) - 1, size(9), text[len(text)-1:]},
	} {
		a := d.want("get", "x", protocol.FS{Op: "get", Path: "/a", Offset: int64(tt.offset), Size: tt.size}, "")
		if !bytes.Equal(a.Data, []byte(tt.want)) || a.Size != int64(len(text)) || (a.SHA256 == hash(text)) != (tt.offset == 0) {
			t.Errorf("get from %d: got %d bytes of %d, hash %q, want %d bytes", tt.offset, len(a.Data), a.Size, a.SHA256, len(tt.want))
		}
	}
}

func TestLooking(t *testing.T) {
	d := open(t, "")
	d.want("mkdir", "x", protocol.FS{Op: "mkdir", Path: "/lib"}, "")
	if _, err := d.Do("x", flash.Reading, nil, &protocol.FS{Op: "put", Path: "/lib/ü.py", Data: []byte("x"), SHA256: hash("x")}); err != nil {
		t.Fatal(err)
	}
	entries := func(f protocol.FS) (list []string) {
		t.Helper()
		for _, e := range d.want(f.Op, "x", f, "").Entries {
			if e.TimeMS <= 0 {
				t.Errorf("%s: got time %d", e.Path, e.TimeMS)
			}
			list = append(list, fmt.Sprintf("%s %v %d %s", e.Path, e.Folder, e.Size, e.Rights))
		}
		return list
	}
	for _, tt := range []struct {
		f    protocol.FS
		want []string
	}{
		{protocol.FS{Op: "ls", Path: "/"}, []string{"/lib true 0 "}},
		{protocol.FS{Op: "ls", Path: "/", Deep: true}, []string{"/lib true 0 ", "/lib/ü.py false 1 reading"}},
		{protocol.FS{Op: "stat", Path: "/lib/ü.py"}, []string{"/lib/ü.py false 1 reading"}},
	} {
		if diff := cmp.Diff(tt.want, entries(tt.f)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.f.Op, diff)
		}
	}
}

// What the store refuses comes with the protocol's words for it.
func TestRefusals(t *testing.T) {
	d := open(t, "")
	d.want("put", "x", last("/d/a", 0, "x", "x"), "")
	for _, tt := range []struct {
		f    protocol.FS
		want protocol.Code
	}{
		{protocol.FS{Op: "get", Path: "/none"}, protocol.CodeNotFound}, {protocol.FS{Op: "get", Path: "/d"}, protocol.CodeBadRequest},
		{protocol.FS{Op: "ls", Path: "/d/a"}, protocol.CodeBadRequest}, {protocol.FS{Op: "rm", Path: "/d"}, protocol.CodeConflict},
		{protocol.FS{Op: "mv", Path: "/d/a", To: "/d"}, protocol.CodeConflict}, {protocol.FS{Op: "mkdir", Path: "/d/a"}, protocol.CodeConflict},
		{protocol.FS{Op: "stat", Path: "relative"}, protocol.CodeBadRequest}, {protocol.FS{Op: "rm", Path: "/.pal"}, protocol.CodeDenied},
		{last("/a.mpy", 0, "", ""), protocol.CodeDenied}, {last("/d/../b", 0, "", ""), protocol.CodeBadRequest}, {last("/d/a/b", 0, "", ""), protocol.CodeBadRequest},
	} {
		d.want(tt.f.Op+" "+tt.f.Path, "x", tt.f, tt.want)
	}
	_, err := d.Do("x", flash.Reading, nil, &protocol.FS{Op: "rm", Path: "/d/a"})
	if res := protocol.Refuse(nil, err); res.Rule != "flash.rights" || res.Resource != "/d/a" || strings.Contains(res.Message, "[rule") {
		t.Errorf("got %+v, want the rule and the path apart", res)
	}
}
