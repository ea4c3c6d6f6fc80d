//go:build unix

package flash

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pal-terminal/pal/hw"
)

// The model of a disk that loses power: what was not synced may be there or not, each change for itself and in whatever order. A rename
// is one change. Syncing a file keeps its contents, syncing a folder the names in it.

// inode is a file or a folder of the model.
type inode struct {
	names   map[string]*inode // of a folder, as programs see it; nil for a file
	kept    map[string]*inode // as it is on the medium
	data    string
	keptAll string // data on the medium
}

// change is what the medium may not have yet.
type change struct {
	folders []*inode // whose sync keeps it
	apply   func(kept func(*inode) map[string]*inode, data map[*inode]string)
	file    *inode // whose sync keeps it
}

type medium struct {
	t       *testing.T
	dir     string // the real folder, of which the model learns what a step has done
	root    *inode
	pending []change
}

func newFolder() *inode { return &inode{names: map[string]*inode{}, kept: map[string]*inode{}} }

// at returns the folder that a name is in, and the name's last part.
func (m *medium) at(name string) (*inode, string) {
	n := m.root
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		if part != "." {
			n = n.names[part]
		}
	}
	return n, path.Base(name)
}

// link is a change of one name.
func link(folder *inode, name string, to *inode) change {
	return change{folders: []*inode{folder}, apply: func(kept func(*inode) map[string]*inode, _ map[*inode]string) {
		if kept(folder)[name] = to; to == nil {
			delete(kept(folder), name)
		}
	}}
}

// note learns what is new in the real folder since it was last looked at: one step of the store.
func (m *medium) note() {
	m.t.Helper()
	there := map[string]string{}
	err := filepath.WalkDir(m.dir, func(p string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(strings.TrimPrefix(p, m.dir), "/")
		if err != nil || name == "" {
			return err
		}
		if there[name] = "folder"; !d.IsDir() {
			data, err := os.ReadFile(p)
			there[name] = "file " + string(data)
			return err
		}
		return nil
	})
	must(m.t, err)
	seen := map[string]string{}
	m.walk(m.root, "", func(name string, n *inode) {
		if seen[name] = "folder"; n.names == nil {
			seen[name] = "file " + n.data
		}
	})
	var gone, come []string // the topmost names only
	for name := range seen {
		if _, ok := there[name]; !ok && (there[path.Dir(name)] != "" || path.Dir(name) == ".") {
			gone = append(gone, name)
		}
	}
	for name := range there {
		if _, ok := seen[name]; !ok && (seen[path.Dir(name)] != "" || path.Dir(name) == ".") {
			come = append(come, name)
		}
	}
	var over []string // files with other contents: written to, or replaced by a rename
	for name, now := range there {
		if was, ok := seen[name]; ok && was != now {
			over = append(over, name)
		}
	}
	m.learn(gone, append(come, over...), there)
}

// learn turns the difference into a change. Steps of the store change one name or move one.
func (m *medium) learn(gone, come []string, there map[string]string) {
	m.t.Helper()
	switch {
	case len(gone) > 1 || len(come) > 1:
		m.t.Fatalf("one step took %v away and brought %v", gone, come)
	case len(gone) == 1 && len(come) == 1:
		from, name := m.at(gone[0])
		to, last := m.at(come[0])
		n := from.names[name]
		delete(from.names, name)
		to.names[last] = n
		one, other := link(from, name, nil), link(to, last, n)
		m.pending = append(m.pending, change{folders: []*inode{from, to}, apply: func(kept func(*inode) map[string]*inode, data map[*inode]string) {
			one.apply(kept, data)
			other.apply(kept, data)
		}})
	case len(gone) == 1: // with all that is in it; or a rename over a file of the same contents, whose loss is none
		from, name := m.at(gone[0])
		delete(from.names, name)
		m.pending = append(m.pending, link(from, name, nil))
	case len(come) == 1:
		folder, name := m.at(come[0])
		n := folder.names[name]
		if n == nil {
			n = newFolder()
			if there[come[0]] != "folder" {
				n = &inode{}
			}
			folder.names[name] = n
			m.pending = append(m.pending, link(folder, name, n))
		}
		if data := strings.TrimPrefix(there[come[0]], "file "); n.names == nil && data != n.data {
			n.data = data
			m.pending = append(m.pending, change{file: n, apply: func(_ func(*inode) map[string]*inode, all map[*inode]string) { all[n] = data }})
		}
	}
}

func (m *medium) walk(n *inode, prefix string, f func(string, *inode)) {
	for name, c := range n.names {
		f(prefix+name, c)
		m.walk(c, prefix+name+"/", f)
	}
}

// keep makes durable what a sync of name keeps.
func (m *medium) keep(name string) {
	n := m.root
	if name != "." {
		folder, last := m.at(name)
		n = folder.names[last]
	}
	var left []change
	for _, c := range m.pending {
		here := c.file == n
		for _, f := range c.folders {
			here = here || f == n
		}
		if !here {
			left = append(left, c)
			continue
		}
		data := map[*inode]string{}
		c.apply(func(f *inode) map[string]*inode { return f.kept }, data)
		for f, text := range data {
			f.keptAll = text
		}
	}
	m.pending = left
}

// after writes to dir what is on the medium when the power goes now and those pending changes got there that take allows.
func (m *medium) after(dir string, take func() bool) {
	m.t.Helper()
	names, data := map[*inode]map[string]*inode{}, map[*inode]string{}
	kept := func(n *inode) map[string]*inode {
		if names[n] == nil {
			names[n] = maps.Clone(n.kept)
		}
		return names[n]
	}
	for _, c := range m.pending {
		if take() {
			c.apply(kept, data)
		}
	}
	var write func(n *inode, dir string)
	write = func(n *inode, dir string) {
		for name, c := range kept(n) {
			p := filepath.Join(dir, name)
			if c.names != nil {
				must(m.t, os.Mkdir(p, 0o700))
				write(c, p)
				continue
			}
			text, ok := data[c]
			if !ok {
				text = c.keptAll
			}
			must(m.t, os.WriteFile(p, []byte(text), 0o600))
		}
	}
	write(m.root, dir)
}

// mounted returns a store whose disk is followed by the model. What Open does is taken for durable, for the disk does not tell of it.
func mounted(t *testing.T) (*Store, *medium) {
	m := &medium{t: t, dir: t.TempDir(), root: newFolder()}
	s := open(t, m.dir)
	m.note()
	m.keep(".")
	return s, m
}

// play runs the steps and calls cut before each step of the disk and at the end.
func (m *medium) play(s *Store, steps func(), cut func()) {
	synced := ""
	settle := func() {
		if m.note(); synced != "" {
			m.keep(synced)
			synced = ""
		}
	}
	s.hook(func(step, name string) error {
		settle()
		cut()
		if step == "sync" || step == "temp" { // which syncs what it writes
			synced = name
		}
		return nil
	})
	steps()
	settle()
	cut()
	s.hook(func(string, string) error { return nil })
}

// Wherever the power goes and whatever of the changes under way has reached the medium: code of fewer rights is not run with
// more, a file put as a whole is the old or the new one, and what was said to be done is there.
func TestPowerCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where the store's own syncs do not come in between
		s, m := mounted(t)
		random := rand.New(rand.NewPCG(7, 7))
		acknowledged := map[string]string{}
		cuts := 0
		cut := func() {
			for chance := range 4 { // none of the changes, a third, two thirds, all
				cuts++
				dir := filepath.Join(t.TempDir(), "after")
				must(t, os.Mkdir(dir, 0o700))
				m.after(dir, func() bool { return random.IntN(3) < chance })
				judge(t, dir, acknowledged)
			}
		}
		put := func(r Rights, path, text string) {
			delete(acknowledged, path)
			must(t, s.Write(r, path, []byte(text)))
			acknowledged[path] = text
		}
		m.play(s, func() {
			put(Full, "/lib/deep/a.py", "strong 1")
			put(Full, "/lib/deep/a.py", "strong 2")
			put(Reading, "/weak.py", "weak 1")
			put(Full, "/was.py", "strong")
			delete(acknowledged, "/weak.py")
			must(t, s.Remove(Full, "/weak.py", false))
			must(t, s.sync("/"))
			put(Full, "/weak.py", "strong")
			put(Reading, "/t.txt", "weak 2")
			delete(acknowledged, "/t.txt")
			must(t, s.Rename(Full, "/t.txt", "/t.py"))
			put(Full, "/new/t.py", "strong")
			delete(acknowledged, "/new/t.py")
			must(t, s.Remove(Full, "/new", true))
			put(Asking, "/new/t.py", "weak 3")
			delete(acknowledged, "/new/t.py")
			must(t, s.Rename(Full, "/new", "/newer"))
			must(t, s.sync("/"))
			put(Reading, "/d/gone.py", "weak 5")
			delete(acknowledged, "/d/gone.py")
			must(t, s.Remove(Full, "/d/gone.py", false))
			put(Asking, "/e/next.py", "weak 6") // whose rights are recorded while the other may come back
			call(s, Asking, hw.FileCreate, "/ask.py", 1, 0, "")
			call(s, Asking, hw.FileWrite, "/ask.py", 0, 0, "weak 4")
			call(s, Full, hw.FileCreate, "/log.txt", 1, 0, "")
			call(s, Full, hw.FileWrite, "/log.txt", -1, 0, "line")
			call(s, Full, hw.FileSync, "/log.txt", 0, 0, "")
			acknowledged["/log.txt"] = "line"
		}, cut)
		must(t, s.Close())
		if cuts < 100 {
			t.Errorf("got %d cuts, want some at every step", cuts)
		}
	})
}

// judge opens what a cut has left.
func judge(t *testing.T, dir string, acknowledged map[string]string) {
	t.Helper()
	after, err := Open(dir)
	must(t, err)
	defer after.Close()
	list, err := after.List(Full, "/", true)
	must(t, err)
	for _, i := range list {
		r := call(after, Full, hw.FileRead, i.Path, 0, 100, "")
		if strings.HasSuffix(i.Path, ".py") && r.Errno == 0 && strings.HasPrefix(string(r.Data), "weak") {
			t.Errorf("%s is run with more rights than it was written with: %q", i.Path, r.Data)
		}
	}
	for path, want := range acknowledged {
		if got := content(after, path); got != want {
			t.Errorf("%s: got %q, want %q, which was said to be written", path, got, want)
		}
	}
	data, err := after.Read(Full, "/lib/deep/a.py")
	if gone, ok := errors.AsType[*Error](err); ok && gone.Errno == eNOENT && acknowledged["/lib/deep/a.py"] == "" {
		return
	}
	if got := string(data); got != "strong 1" && got != "strong 2" {
		t.Errorf("/lib/deep/a.py: got %q, %v, want the old or the new", got, err)
	}
}
