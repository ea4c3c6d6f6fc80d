package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/pal-terminal/pal/limits"
)

// Records is a small table, a file for each record. Its methods are safe for concurrent use.
type Records struct {
	disk  Disk
	dir   string
	mu    sync.Mutex
	stuck map[string]bool // files that are damaged and could not be moved; what writes there moves them first
}

// OpenRecords opens the table in a folder and returns what is in it. A file that is damaged, foreign or cut off is moved to
// quarantine and told; one that cannot be read or moved stays and is told. Neither is in the table.
func OpenRecords(d Disk, dir string, damaged func(name, problem string)) (*Records, map[string][]byte, error) {
	if err := d.Mkdir(dir); err != nil {
		return nil, nil, err
	}
	names, err := d.List(dir)
	if err = errors.Join(err, d.Sync("")); err != nil {
		return nil, nil, err
	}
	r, values := &Records{disk: d, dir: dir, stuck: map[string]bool{}}, map[string][]byte{}
	for _, name := range names {
		if strings.HasSuffix(name, fresh) {
			d.Remove(dir + "/" + name) //nolint:errcheck // the next Put takes it
			continue
		}
		value, problem, move := r.read(name)
		if problem == "" {
			values[name] = value
			continue
		}
		if move {
			if err := moveAside(d, dir+"/"+name); err != nil {
				problem, move = fmt.Sprintf("%s, and cannot be moved: %v", problem, err), false
			}
		}
		r.stuck[name] = !move
		damaged(dir+"/"+name, problem)
	}
	if err := d.Sync(dir); err != nil { // what was read here must not be taken back by the next cut
		return nil, nil, err
	}
	return r, values, nil
}

// read returns the value of a file or what is wrong with it, and whether it is to be moved: it is not when it cannot be read, which
// may pass.
func (r *Records) read(name string) (value []byte, problem string, move bool) {
	raw, err := Read(r.disk, r.dir+"/"+name, headerBytes+limits.NameBytes+limits.RecordBytes)
	switch {
	case errors.Is(err, errTooLong):
		return nil, err.Error(), true
	case err != nil:
		return nil, err.Error(), false
	case !isKey(name):
		return nil, "its name is no key", true
	}
	value, problem = unseal(name, raw)
	return value, problem, true
}

// Put sets a record. When it returns nil, that is durable; after an error the old or the new is there, and who must know
// tries again or puts the old.
func (r *Records) Put(key string, value []byte) error {
	if len(value) > limits.RecordBytes {
		return fmt.Errorf("record %s: %d bytes are more than %d", key, len(value), limits.RecordBytes)
	}
	return r.change(key, func(name string) error { return Replace(r.disk, name, seal(key, value)) })
}

// Delete removes a record, if it is there. When it returns nil, that is durable; after an error it may be there.
func (r *Records) Delete(key string) error {
	return r.change(key, func(name string) error {
		if err := r.disk.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return r.disk.Sync(r.dir) // also when an earlier Delete removed it and could not sync
	})
}

func (r *Records) change(key string, f func(name string) error) error {
	if !isKey(key) {
		return fmt.Errorf("%q is no key of a record", key)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	name := r.dir + "/" + key
	if r.stuck[key] {
		if err := moveAside(r.disk, name); err != nil {
			return err
		}
		delete(r.stuck, key)
	}
	return f(name)
}

// isKey tells whether a word can be a key: letters that every file system tells apart.
func isKey(key string) bool {
	return key != "" && len(key) <= limits.NameBytes && strings.Trim(key, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
