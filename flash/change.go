package flash

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/pal-terminal/pal/limits"
)

// change runs one change of the tree, alone.
func (s *Store) change(f func() error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closed {
		return fail(eROFS, "the terminal is shutting down")
	}
	return f()
}

// commit makes a change of memory, once the disk has it, and notes what is to be made durable.
func (s *Store) commit(f func(), dirty ...string) {
	s.mu.Lock()
	f()
	s.mu.Unlock()
	if s.disk.there() {
		for _, path := range dirty {
			s.dirty[path] = struct{}{}
		}
	}
}

// onDisk does a step of a change on the disk, if there is one.
func (s *Store) onDisk(step func(d *disk) error) error {
	if !s.disk.there() {
		return nil
	}
	return step(&s.disk)
}

// tag sees that the disk knows of rights before it gets the files that have them.
func (s *Store) tag(files map[string]Rights) error {
	known := true
	for path, r := range files {
		old, ok := s.record[path]
		known = known && (r == Full || ok && old == r)
	}
	if known || !s.disk.there() {
		return nil
	}
	return s.writeRecord(files)
}

// writeRecord writes the rights of the tree, with those of files that are about to come. What the record says of a file that
// is gone or has got more rights stays while a power cut could bring the old one back.
func (s *Store) writeRecord(coming map[string]Rights) error {
	next := map[string]Rights{}
	s.root.walk("", true, func(path string, n *node) {
		if n.children == nil && n.rights != Full {
			next[path] = n.rights
		}
	})
	for path, r := range s.record {
		_, open := s.dirty[path]
		_, moved := s.dirty[parentOf(path)]
		if _, ok := next[path]; !ok && (open || moved) {
			next[path] = r
		}
	}
	for path, r := range coming {
		if old, ok := next[path]; r != Full && (!ok || r < old) {
			next[path] = r
		}
	}
	var lines []string
	for path, r := range next {
		lines = append(lines, r.String()+" "+strconv.Quote(path)+"\n")
	}
	if err := s.disk.writeRights(lines); err != nil {
		return err
	}
	s.record = next
	return nil
}

// replace is Write; data becomes the store's.
func (s *Store) replace(r Rights, path string, data []byte) error {
	err := s.change(func() error { return s.mayReplace(r, path, int64(len(data))) })
	if err != nil {
		return err
	}
	name := ""
	if s.disk.there() {
		if name, err = s.disk.temp(data); err != nil { // durable before it gets its name
			return err
		}
	}
	if err := s.change(func() error { return s.put(r, path, data, name) }); err != nil {
		if name != "" {
			s.disk.root.Remove(name) //nolint:errcheck // Open removes what is left
		}
		return err
	}
	return s.sync(path)
}

// mayReplace refuses a whole file of size that could not be put at path, as far as that is known before folders are made.
func (s *Store) mayReplace(r Rights, path string, size int64) error {
	n, err := s.file(path)
	if n == nil || err != nil {
		if own, ok := errors.AsType[*Error](err); ok && own.Errno == eNOENT {
			return s.afford(0, size)
		}
		return err
	}
	if err := n.mayChange(r); err != nil {
		return err
	}
	return s.afford(int64(len(n.data)), size)
}

// put gives the file that is in the store's own folder under name its path.
func (s *Store) put(r Rights, path string, data []byte, name string) error {
	if err := s.mayReplace(r, path, int64(len(data))); err != nil {
		return err
	}
	if err := s.makeFolders(parentOf(path)); err != nil {
		return err
	}
	parent, last, err := s.place(path)
	if err != nil {
		return err
	}
	if err := s.tag(map[string]Rights{path: r}); err != nil {
		return err
	}
	if err := s.onDisk(func(d *disk) error { return d.move(name, rel(path)) }); err != nil {
		return err
	}
	s.commit(func() {
		n := parent.children[last]
		if n == nil {
			n = &node{}
			parent.children[last] = n
			s.entries++
		}
		s.bytes += int64(len(data) - len(n.data))
		*n = node{data: data, time: time.Now(), rights: r}
	}, parentOf(path))
	return nil
}

// makeFolders makes a folder and those on the way to it.
func (s *Store) makeFolders(path string) error {
	if err := check(path); err != nil || path == "/" {
		return err
	}
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		part := path[:i]
		parent, name, err := s.place(part)
		if err != nil {
			return err
		}
		if n := parent.children[name]; n != nil {
			if n.children == nil {
				return fail(eEXIST, "%s is a file", part)
			}
			continue
		}
		err = s.onDisk(func(d *disk) error { return d.mkdir(part) })
		if err != nil && !errors.Is(err, fs.ErrExist) { // one that was made and not noted before the power went
			return err
		}
		s.commit(func() {
			parent.children[name] = &node{children: map[string]*node{}, time: time.Now()}
			s.entries++
		}, parentOf(part))
	}
	return nil
}

// create makes an empty file, or empties one that is there.
func (s *Store) create(r Rights, path string, how int64) error {
	parent, name, err := s.place(path)
	if err != nil {
		return err
	}
	n := parent.children[name]
	switch {
	case n == nil:
	case n.children != nil:
		return fail(eISDIR, "it is a folder")
	case how == 1:
		return fail(eEXIST, "it is there already")
	case how == 2:
		return s.resize(r, path, 0)
	default:
		return nil
	}
	if err := s.tag(map[string]Rights{path: r}); err != nil {
		return err
	}
	if err := s.onDisk(func(d *disk) error { return d.writeAt(path, os.O_CREATE, nil, 0, 0) }); err != nil {
		return err
	}
	s.commit(func() {
		parent.children[name] = &node{time: time.Now(), rights: r}
		s.entries++
	}, parentOf(path), path)
	return nil
}

// resize cuts a file or makes it longer with zeros.
func (s *Store) resize(r Rights, path string, size int64) error {
	n, err := s.changeable(r, path)
	if err != nil {
		return err
	}
	old := int64(len(n.data))
	if size < 0 {
		return fail(eINVAL, "a size is 0 or more")
	}
	if err := s.afford(old, size); err != nil {
		return err
	}
	if err := s.inPlace(n, path, nil, 0, size); err != nil {
		return err
	}
	s.commit(func() {
		if size <= old {
			n.data = n.data[:size:size]
		} else {
			n.data = append(n.data, make([]byte, size-old)...)
		}
		n.written(r, old == 0 || size == 0)
		s.bytes += size - old
	}, path)
	return nil
}

// write changes a part of a file and returns how many bytes it wrote.
func (s *Store) write(r Rights, path string, offset int64, data []byte) error {
	n, err := s.changeable(r, path)
	if err != nil {
		return err
	}
	old := int64(len(n.data))
	if offset == -1 {
		offset = old
	}
	if offset < 0 || offset > limits.FileBytes {
		return fail(eINVAL, "an offset is from 0 to %d", limits.FileBytes)
	}
	size := max(old, offset+int64(len(data)))
	if len(data) == 0 {
		return nil
	}
	if err := s.afford(old, size); err != nil {
		return err
	}
	if err := s.inPlace(n, path, data, offset, -1); err != nil {
		return err
	}
	s.commit(func() {
		if size > old {
			n.data = append(n.data, make([]byte, size-old)...)
		}
		copy(n.data[offset:], data)
		n.written(r, old == 0)
		s.bytes += size - old
	}, path)
	return nil
}

// inPlace changes a file on the disk. After a failure the disk may hold anything; the next sync writes the file anew.
func (s *Store) inPlace(n *node, path string, data []byte, offset, size int64) error {
	err := s.onDisk(func(d *disk) error { return d.writeAt(path, 0, data, offset, size) })
	if err != nil {
		s.commit(func() { n.stale = true }, path)
	}
	return err
}

// written notes a change of a file's contents. Unless they are all of the same code, the rights stay with the file.
func (n *node) written(r Rights, whole bool) {
	if n.time = time.Now(); whole {
		n.rights = r
	}
}

// changeable returns a file that code of r may change.
func (s *Store) changeable(r Rights, path string) (*node, error) {
	n, err := s.file(path)
	if err == nil {
		err = n.mayChange(r)
	}
	return n, err
}

// all returns the files of n, which is at path, or a refusal to let code of r change one of them.
func (n *node) all(r Rights, path string) (map[string]*node, error) {
	files := map[string]*node{}
	if n.children == nil {
		files[path] = n
	}
	n.walk(path, true, func(p string, c *node) {
		if c.children == nil {
			files[p] = c
		}
	})
	for _, c := range files {
		if err := c.mayChange(r); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func either(*node) error { return nil }

func mustBeFile(n *node) error {
	if n.children != nil {
		return fail(eISDIR, "it is a folder")
	}
	return nil
}

func mustBeFolder(n *node) error {
	if n.children == nil {
		return fail(eNOTDIR, "it is a file")
	}
	return nil
}

func (s *Store) remove(r Rights, path string, deep bool, must func(*node) error) error {
	return s.change(func() error {
		parent, name, err := s.parent(path)
		if err != nil {
			return err
		}
		n := parent.children[name]
		if n == nil {
			return fail(eNOENT, "no such file or folder")
		}
		if err := must(n); err != nil {
			return err
		}
		if len(n.children) > 0 && !deep {
			return fail(eNOTEMPTY, "the folder is not empty")
		}
		if _, err := n.all(r, path); err != nil {
			return err
		}
		if err := s.onDisk(func(d *disk) error { return d.remove(path) }); err != nil {
			return err
		}
		s.commit(func() {
			delete(parent.children, name)
			s.forget(n)
		}, parentOf(path))
		return nil
	})
}

// forget takes a node that has left the tree, and all below it, out of the counts.
func (s *Store) forget(n *node) {
	s.entries--
	s.bytes -= int64(len(n.data))
	n.walk("", true, func(_ string, c *node) {
		s.entries--
		s.bytes -= int64(len(c.data))
	})
}

func (s *Store) rename(r Rights, from, to string) error {
	return s.change(func() error {
		source, name, err := s.parent(from)
		if err != nil {
			return err
		}
		target, last, err := s.parent(to)
		if err != nil {
			return err
		}
		n, old := source.children[name], target.children[last]
		switch {
		case n == nil:
			return fail(eNOENT, "no such file or folder")
		case from == to:
			return nil
		case strings.HasPrefix(to, from+"/"):
			return fail(eINVAL, "a folder cannot be moved into itself")
		case old != nil && (old.children != nil || n.children != nil):
			return fail(eEXIST, "%s is there already", to)
		case old == nil && !target.room(last):
			return fail(eNOSPC, "the folder is full of names")
		case old != nil:
			err = old.mayChange(r)
		}
		if err != nil {
			return err
		}
		files, err := n.all(r, from)
		if err != nil {
			return err
		}
		moved := map[string]Rights{}
		for path, c := range files {
			moved[to+path[len(from):]] = c.rights
			if check(to+path[len(from):]) != nil {
				return fail(eNAMETOOLONG, "a path has at most %d bytes", limits.PathBytes)
			}
		}
		if err := s.tag(moved); err != nil {
			return err
		}
		if err := s.onDisk(func(d *disk) error { return d.move(rel(from), rel(to)) }); err != nil {
			return err
		}
		s.commit(func() {
			delete(source.children, name)
			target.children[last] = n
			if old != nil {
				s.forget(old)
			}
		}, parentOf(from), parentOf(to))
		for path := range files { // what was not durable is so under its new name
			if _, ok := s.dirty[path]; ok {
				s.dirty[to+path[len(from):]] = struct{}{}
			}
		}
		return nil
	})
}
