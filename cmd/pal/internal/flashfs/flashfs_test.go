//go:build unix

package flashfs_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/cmd/pal/internal/flashfs"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// terminal keeps files in memory; nil is a folder. With lie, ls answers that.
type terminal struct {
	files map[string][]byte
	lie   []protocol.FileEntry
	puts  int
	full  bool
}

func (m *terminal) FS(_ context.Context, f protocol.FS) (*protocol.FSAnswer, error) {
	data, there := m.files[f.Path]
	if f.Op == "mkdir" {
		m.files[f.Path] = nil
		return &protocol.FSAnswer{}, nil
	}
	if !there && f.Path != "/" {
		return nil, &protocol.Error{Code: protocol.CodeNotFound, Message: "none"}
	}
	answer := &protocol.FSAnswer{Size: int64(len(data))}
	switch f.Op {
	case "stat":
		answer.Entries = []protocol.FileEntry{{Path: f.Path, Folder: data == nil, Size: int64(len(data))}}
	case "get":
		answer.SHA256 = flashfs.Hash(data)
	case "ls":
		answer.Entries = slices.Clone(m.lie)
		for p, data := range m.files {
			if m.lie == nil && strings.HasPrefix(p, strings.TrimSuffix(f.Path, "/")+"/") {
				answer.Entries = append(answer.Entries, protocol.FileEntry{Path: p, Folder: data == nil, Size: int64(len(data))})
			}
		}
		slices.SortFunc(answer.Entries, func(a, b protocol.FileEntry) int { return strings.Compare(a.Path, b.Path) })
	}
	return answer, nil
}

func (m *terminal) GetFile(_ context.Context, path string) ([]byte, error) {
	data, there := m.files[path]
	if !there {
		return nil, &protocol.Error{Code: protocol.CodeNotFound, Message: "none"}
	}
	return bytes.Clone(data), nil
}

func (m *terminal) PutFile(_ context.Context, path string, data []byte) error {
	if m.full {
		return &protocol.Error{Code: protocol.CodeFull, Message: "full"}
	}
	m.puts++
	m.files[path] = bytes.Clone(data)
	return nil
}

func TestPath(t *testing.T) {
	for word, want := range map[string]string{
		":/main.py": "/main.py", ":main.py": "/main.py", ":/flash/main.py": "/main.py", "main.py": "/main.py", ":": "/", ":/": "/", ":/flash": "/",
		":/flash/": "/", ":lib/": "/lib", ":/flashy": "/flashy", ":../x": "/../x", ":/flash/../x": "/../x", ":a//b": "/a//b",
	} {
		if got := flashfs.Path(word); got != want {
			t.Errorf("Path(%q): got %q, want %q", word, got, want)
		}
	}
}

// here makes a folder with files and enters it.
func here(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func places(words string) (from []flashfs.Place, to flashfs.Place) {
	list := strings.Fields(words)
	for _, w := range list[:len(list)-1] {
		from = append(from, flashfs.Parse(w))
	}
	return from, flashfs.Parse(list[len(list)-1])
}

func TestPlan(t *testing.T) {
	here(t, map[string]string{"a.py": "a", "b.py": "b", "lib/c.py": "c", "lib/sub/d.py": "d", "large": strings.Repeat("x", limits.FileBytes+1)})
	if err := os.Symlink("a.py", "link"); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("links", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../a.py", "links/a"); err != nil {
		t.Fatal(err)
	}
	c := &terminal{files: map[string][]byte{"/x.py": []byte("x"), "/dir": nil, "/dir/y.py": []byte("y"), "/dir/e": nil}}
	for _, tt := range []struct{ words, want string }{
		{"a.py :", "a.py>:/a.py"},
		{"a.py :new.py", "a.py>:/new.py"},
		{"a.py :/flash/dir", "a.py>:/dir/a.py"},
		{"a.py b.py :dir", "a.py>:/dir/a.py b.py>:/dir/b.py"},
		{"a.py b.py :n/", "+:/n a.py>:/n/a.py b.py>:/n/b.py"},
		{"link :", "link>:/link"},
		{"lib :", "+:/lib lib/c.py>:/lib/c.py +:/lib/sub lib/sub/d.py>:/lib/sub/d.py"},
		{"lib/. :", "+:/ lib/c.py>:/c.py +:/sub lib/sub/d.py>:/sub/d.py"},
		{"lib :other", "+:/other lib/c.py>:/other/c.py +:/other/sub lib/sub/d.py>:/other/sub/d.py"},
		{":dir out", "+out +out/e :/dir/y.py>out/y.py"},
		{":dir lib", "+lib/dir +lib/dir/e :/dir/y.py>lib/dir/y.py"},
		{": lib", "+lib +lib/dir +lib/dir/e :/dir/y.py>lib/dir/y.py :/x.py>lib/x.py"},
		{":x.py :dir", ":/x.py>:/dir/x.py"},
		{"a.py b.py :x.py", "error: no folder"},
		{"a.py b", "error: colon"},
		{"none :", "error: no file none"},
		{":none .", "error: no such file"},
		{"large :", "error: a terminal keeps"},
		{"links :", "error: no regular file"},
		{":x.py :x.py", "error: to itself"},
		{":dir :dir/e", "error: to itself"},
		{": :dir", "error: to itself"},
	} {
		from, to := places(tt.words)
		steps, err := flashfs.New(c).Plan(t.Context(), from, to, true)
		var got []string
		for _, s := range steps {
			if s.Folder {
				got = append(got, "+"+s.To.String())
			} else {
				got = append(got, s.From.String()+">"+s.To.String())
			}
		}
		if want, wrong := strings.CutPrefix(tt.want, "error: "); wrong {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, %v, want an error with %q", tt.words, got, err, want)
			}
			continue
		}
		if line := strings.Join(got, " "); err != nil || line != tt.want {
			t.Errorf("%s:\ngot  %s, %v\nwant %s", tt.words, line, err, tt.want)
		}
	}
	if _, err := flashfs.New(c).Plan(t.Context(), []flashfs.Place{flashfs.Parse("lib")}, flashfs.Parse(":"), false); err == nil {
		t.Error("a folder without deep: got no error")
	}
}

// A terminal that lies about names reaches nothing outside the folder that is copied into.
func TestPlanDistrusts(t *testing.T) {
	here(t, nil)
	for _, p := range []string{"/dir/../../evil", "/evil", "/dir/", "/dir", "evil", "/dir//evil", "/dir/.", "/dir/..", "/dir/a\x00b"} {
		c := &terminal{files: map[string][]byte{"/dir": nil}, lie: []protocol.FileEntry{{Path: p}}}
		steps, err := flashfs.New(c).Plan(t.Context(), []flashfs.Place{flashfs.Parse(":dir")}, flashfs.Parse("out"), true)
		if err == nil {
			t.Errorf("%q: got %v, want an error", p, steps)
		}
	}
}

func TestDo(t *testing.T) {
	here(t, map[string]string{"a": "one"})
	c := &terminal{files: map[string][]byte{}}
	s := flashfs.New(c)
	do := func(words string, force, want bool) {
		t.Helper()
		from, to := places(words)
		steps, err := s.Plan(t.Context(), from, to, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range steps {
			if got, err := s.Do(t.Context(), step, force); err != nil || got != want {
				t.Errorf("%s: got %v, %v, want %v", words, got, err, want)
			}
		}
	}
	do("a :", false, true)
	do("a :", false, false)
	do("a :", true, true)
	do(":a b", false, true)
	do(":a b", false, false)
	do(":a :c", false, true)
	do(":a :c", false, false)
	if err := os.WriteFile("a", []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	do("a :", false, true)
	do(":a b", false, true)
	if got, err := os.ReadFile("b"); err != nil || string(got) != "two" {
		t.Errorf("b: got %q, %v, want two", got, err)
	}
	if diff := cmp.Diff(map[string][]byte{"/a": []byte("two"), "/c": []byte("one")}, c.files); diff != "" {
		t.Error(diff)
	}
	entries, err := os.ReadDir(".")
	if err != nil || len(entries) != 2 {
		t.Errorf("got %v, %v, want a and b and nothing temporary", entries, err)
	}
}

func TestEdit(t *testing.T) {
	write := func(text string) func(string) error {
		return func(file string) error { return os.WriteFile(file, []byte(text), 0o600) }
	}
	conflict := func(err error) bool {
		refusal, ok := errors.AsType[*protocol.Error](err)
		return ok && refusal.Code == protocol.CodeConflict
	}
	for _, tt := range []struct {
		name    string
		path    string
		edit    func(c *terminal) func(string) error
		changed bool
		wrong   func(error) bool
		want    string
		kept    bool
	}{
		{name: "written", path: "/a.py", edit: func(*terminal) func(string) error { return write("new") }, changed: true, want: "new"},
		{name: "same", path: "/a.py", edit: func(*terminal) func(string) error { return write("old") }, want: "old"},
		{name: "new", path: "/b.py", edit: func(*terminal) func(string) error { return write("new") }, changed: true, want: "new"},
		{name: "changed meanwhile", path: "/a.py", edit: func(c *terminal) func(string) error {
			return func(file string) error { c.files["/a.py"] = []byte("other"); return write("new")(file) }
		}, wrong: conflict, want: "other", kept: true},
		{name: "gone meanwhile", path: "/a.py", edit: func(c *terminal) func(string) error {
			return func(file string) error { delete(c.files, "/a.py"); return write("new")(file) }
		}, wrong: conflict, kept: true},
		{name: "made meanwhile", path: "/b.py", edit: func(c *terminal) func(string) error {
			return func(file string) error { c.files["/b.py"] = []byte("other"); return write("new")(file) }
		}, wrong: conflict, want: "other", kept: true},
		{name: "editor fails", path: "/a.py", edit: func(*terminal) func(string) error {
			return func(string) error { return errors.New("no screen") }
		}, wrong: func(err error) bool { return strings.Contains(err.Error(), "no screen") }, want: "old"},
		{name: "no room", path: "/a.py", edit: func(c *terminal) func(string) error { c.full = true; return write("new") },
			wrong: func(err error) bool { return strings.Contains(err.Error(), "full") }, want: "old", kept: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			c := &terminal{files: map[string][]byte{"/a.py": []byte("old")}}
			edit := tt.edit(c)
			name := ""
			changed, err := flashfs.New(c).Edit(t.Context(), flashfs.Parse(":"+tt.path), func(file string) error { name = file; return edit(file) })
			if changed != tt.changed || (err != nil) != (tt.wrong != nil) || err != nil && !tt.wrong(err) {
				t.Errorf("got %v, %v, want %v", changed, err, tt.changed)
			}
			if got := string(c.files[tt.path]); got != tt.want {
				t.Errorf("on the terminal: got %q, want %q", got, tt.want)
			}
			if filepath.Base(name) != filepath.Base(tt.path) {
				t.Errorf("the editor was given %s for %s", name, tt.path)
			}
			text, readErr := os.ReadFile(name)
			if kept := readErr == nil && string(text) == "new"; kept != tt.kept || kept && !strings.Contains(err.Error(), name) {
				t.Errorf("kept: got %v (%v), want %v and its name in the error", kept, err, tt.kept)
			}
		})
	}
}
