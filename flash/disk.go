package flash

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// disk is the folder below the tree; the zero disk keeps nothing. Every step that changes something goes through do, where
// tests cut the power.
type disk struct {
	root  *os.Root
	hook  atomic.Pointer[func(step, name string) error] // of tests; name is within the root, of a move the new one
	temps atomic.Uint64
}

// rightsFile holds a line for each file of less than full rights, the word and the quoted path, and recordEnd.
const rightsFile = own + "/rights"

// recordEnd is the last line of a record of rights. A record without it is not what was written.
func recordEnd(lines string) string {
	return fmt.Sprintf("end %08x\n", crc32.ChecksumIEEE([]byte(lines)))
}

func (d *disk) there() bool { return d.root != nil }

func (d *disk) open(dir string) (err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if d.root, err = os.OpenRoot(dir); err != nil {
		return err
	}
	if err = d.root.Mkdir(own, 0o700); err == nil {
		err = d.syncAny(".") // what is to be durable in it needs it to be so
	}
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	list, listErr := fs.ReadDir(d.root.FS(), own)
	for _, e := range list { // what a crash left half written
		if strings.HasPrefix(e.Name(), "new-") {
			err = errors.Join(err, d.root.Remove(own+"/"+e.Name()))
		}
	}
	if err = errors.Join(err, listErr); errors.Is(err, fs.ErrPermission) || isReadOnly(err) {
		err = nil // files can be read, and writing says why it fails
	}
	if err != nil {
		return errors.Join(err, d.root.Close())
	}
	return nil
}

func (d *disk) do(step, name string, f func() error) error {
	if hook := d.hook.Load(); hook != nil {
		if err := (*hook)(step, name); err != nil {
			return err
		}
	}
	return f()
}

// rel is a path of the tree as the root knows it.
func rel(path string) string {
	if path == "/" {
		return "."
	}
	return path[1:]
}

func parentOf(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 1)] }

func (d *disk) read(path string) ([]byte, error) { return d.root.ReadFile(rel(path)) }

// temp writes data durably to a new file of the store's own and returns its name.
func (d *disk) temp(data []byte) (name string, err error) {
	name = fmt.Sprintf("%s/new-%d", own, d.temps.Add(1))
	err = d.do("temp", name, func() error {
		f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Sync(), f.Close())
	})
	if err != nil {
		d.root.Remove(name) //nolint:errcheck // it may not be there; Open removes what is left
	}
	return name, err
}

// move renames within the root.
func (d *disk) move(from, to string) error {
	return d.do("move", to, func() error { return d.root.Rename(from, to) })
}

// syncFolder makes the names in a folder durable.
func (d *disk) syncFolder(name string) error {
	return d.do("sync", name, func() error { return d.syncAny(name) })
}

// syncFile makes a file's contents durable.
func (d *disk) syncFile(path string) error {
	return d.do("sync", rel(path), func() error { return d.syncAny(rel(path)) })
}

func (d *disk) syncAny(name string) error {
	f, err := d.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// writeAt changes a file in place. size is what it has then, -1 when that follows from the write.
func (d *disk) writeAt(path string, flags int, data []byte, offset, size int64) error {
	return d.do("write", rel(path), func() error {
		if info, err := d.root.Lstat(rel(path)); err == nil && !info.Mode().IsRegular() {
			return fail(eACCES, "it is no regular file on the disk")
		}
		f, err := d.root.OpenFile(rel(path), os.O_WRONLY|flags, 0o600)
		if err != nil {
			return err
		}
		if len(data) > 0 {
			_, err = f.WriteAt(data, offset)
		}
		if err == nil && size >= 0 {
			err = f.Truncate(size)
		}
		return errors.Join(err, f.Close())
	})
}

func (d *disk) mkdir(path string) error {
	return d.do("mkdir", rel(path), func() error { return d.root.Mkdir(rel(path), 0o700) })
}

func (d *disk) remove(path string) error {
	return d.do("remove", rel(path), func() error {
		err := d.root.RemoveAll(rel(path))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

// readRights returns the rights of the files that have less than full ones. Of a damaged record nothing is believed.
func (d *disk) readRights() (rights map[string]Rights, damaged bool) {
	rights = map[string]Rights{}
	raw, err := d.root.ReadFile(rightsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return rights, false
	}
	text := string(raw)
	lines := text[:max(0, len(text)-len(recordEnd("")))]
	if err != nil || text != lines+recordEnd(lines) {
		return rights, true
	}
	for line := range strings.Lines(lines) {
		word, quoted, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		path, err := strconv.Unquote(quoted)
		r, ok := map[string]Rights{"reading": Reading, "asking": Asking, "lost": lost}[word]
		if !ok || err != nil {
			return map[string]Rights{}, true
		}
		rights[path] = r
	}
	return rights, false
}

// writeRights replaces the record durably.
func (d *disk) writeRights(rights []string) error {
	lines := strings.Join(rights, "")
	name, err := d.temp([]byte(lines + recordEnd(lines)))
	if err != nil {
		return err
	}
	if err := d.move(name, rightsFile); err != nil {
		return errors.Join(err, d.root.Remove(name))
	}
	return d.syncFolder(own)
}
