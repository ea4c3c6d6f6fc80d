package mip

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Resolve reads the packages in folders, and those that they need from the folders beside them. met reports what the terminal has
// already. What is found nowhere is named in the error, all of it.
func Resolve(folders []string, met func(need string) (bool, error)) ([]*Package, error) {
	r := resolver{met: met, seen: map[string]bool{}}
	for _, folder := range folders {
		if err := r.add(folder); err != nil {
			return nil, err
		}
	}
	if len(r.missing) > 0 {
		return nil, fmt.Errorf("these are needed and not there: %s: put their folders beside the package's", strings.Join(r.missing, ", "))
	}
	return r.list, agree(r.list)
}

type resolver struct {
	met     func(need string) (bool, error)
	seen    map[string]bool // absolute folders
	list    []*Package
	missing []string
}

func (r *resolver) add(folder string) error {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return fmt.Errorf("package %s: %w", folder, err)
	}
	if r.seen[abs] {
		return nil
	}
	r.seen[abs] = true
	p, err := Read(abs)
	if err != nil {
		return err
	}
	r.list = append(r.list, p)
	for _, need := range p.Needs {
		if err := r.need(filepath.Dir(abs), need); err != nil {
			return err
		}
	}
	return nil
}

// need sees to one package that another needs, which lies in the folder around that.
func (r *resolver) need(around, need string) error {
	if filepath.IsLocal(need) && !strings.ContainsAny(need, `/\:`) {
		info, err := os.Stat(filepath.Join(around, need))
		if err == nil && info.IsDir() {
			return r.add(filepath.Join(around, need))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("package %s: %w", need, err)
		}
	}
	met, err := r.met(need)
	if err == nil && !met && !slices.Contains(r.missing, need) {
		r.missing = append(r.missing, need)
	}
	return err
}

// agree refuses packages that have different files for one place.
func agree(list []*Package) error {
	type owner struct {
		pkg  string
		data []byte
	}
	files := map[string]owner{}
	for _, p := range list {
		for _, f := range p.Files {
			if was, ok := files[f.Dest]; ok && !bytes.Equal(was.data, f.Data) {
				return fmt.Errorf("packages %s and %s both have a file %s, and they differ", was.pkg, p.Name, f.Dest)
			}
			files[f.Dest] = owner{p.Name, f.Data}
		}
	}
	return nil
}
