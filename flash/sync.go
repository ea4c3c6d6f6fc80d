package flash

import (
	"errors"
	"io/fs"
	"strings"
)

// sync makes durable what is not yet: everything for "/", else one file with its name and those of the folders that it is in.
func (s *Store) sync(path string) error {
	if !s.disk.there() {
		return nil
	}
	s.syncing.Lock()
	defer s.syncing.Unlock()
	s.writing.Lock()
	var list []string
	for p := range s.dirty {
		if path == "/" || p == path || p == "/" || strings.HasPrefix(path, p+"/") {
			list = append(list, p)
		}
	}
	var errs []error
	for _, p := range list {
		delete(s.dirty, p)
		if n, err := s.find(p); err == nil && n.stale {
			errs = append(errs, s.mend(n, p))
		}
	}
	s.writing.Unlock()
	var again []string
	for _, p := range list {
		if err := s.disk.syncFile(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs, again = append(errs, err), append(again, p)
		}
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	for _, p := range again {
		s.dirty[p] = struct{}{}
	}
	if s.outdated() {
		errs = append(errs, s.writeRecord(nil))
	}
	return errors.Join(errs...)
}

// mend writes a file anew whose last write failed half way.
func (s *Store) mend(n *node, path string) error {
	name, err := s.disk.temp(n.data)
	if err == nil {
		err = s.disk.move(name, rel(path))
	}
	if err != nil {
		s.dirty[path] = struct{}{}
		return err
	}
	s.commit(func() { n.stale = false }, parentOf(path))
	return nil
}

// outdated says whether the record tells of a file that is durably gone or has more rights.
func (s *Store) outdated() bool {
	for path, r := range s.record {
		_, open := s.dirty[path]
		_, moved := s.dirty[parentOf(path)]
		if n, err := s.file(path); (err != nil || n.rights != r) && !open && !moved {
			return true
		}
	}
	return false
}
