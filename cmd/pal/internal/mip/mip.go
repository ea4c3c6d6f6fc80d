// Package mip finds out what belongs to a MicroPython package in a local folder, as `mip install` does for one on a server.
//
// # Model
//
// A folder is one of three: it has a package.json (the format of mip: "urls" of destination and source, "deps", "version"), a
// manifest.py (the calls metadata, module, package and require of micropython-lib, with literal arguments), or neither, and then
// its modules and packages are taken as they lie. [Read] answers the files to copy, with destinations relative to the
// library folder, and the names of what the package needs besides.
//
// # What it refuses
//
// Sources that lie outside the folder or on a server, destinations that leave the library folder, .mpy files, which terminals do
// not run, and more or larger files than a terminal keeps.
package mip

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pal-terminal/pal/limits"
)

// File is one file of a package.
type File struct {
	Dest string // slash-separated, relative to the library folder: "umqtt/simple.py"
	Data []byte
}

// Package is what a folder holds.
type Package struct {
	Name    string // the folder's
	Version string // empty when it says none
	Files   []File // by destination
	Needs   []string
}

// Read reads the package in a folder.
func Read(folder string) (*Package, error) {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("package %s: %w", folder, err)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("package %s: %w", folder, err)
	}
	defer root.Close() //nolint:errcheck // opened for reading only
	r := reader{root: root, p: &Package{Name: filepath.Base(abs)}}
	for _, way := range []func() (bool, error){r.json, r.manifest, r.plain} {
		done, err := way()
		if err != nil {
			return nil, fmt.Errorf("package %s: %w", folder, err)
		}
		if done {
			break
		}
	}
	if len(r.p.Files) == 0 {
		return nil, fmt.Errorf("package %s: there is nothing to install in it", folder)
	}
	slices.SortFunc(r.p.Files, func(a, b File) int { return strings.Compare(a.Dest, b.Dest) })
	return r.p, nil
}

// reader reads one folder; no path leads out of its root.
type reader struct {
	root *os.Root
	p    *Package
	size int
}

// read returns a file that must be there, of at most limits.FileBytes.
func (r *reader) read(name string) ([]byte, error) {
	f, err := r.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // opened for reading only
	data, err := io.ReadAll(io.LimitReader(f, limits.FileBytes+1))
	if err == nil && len(data) > limits.FileBytes {
		err = fmt.Errorf("%s has more than %d bytes", name, limits.FileBytes)
	}
	return data, err
}

// add takes a file into the package.
func (r *reader) add(dest, source string) error {
	clean := path.Clean(dest)
	switch {
	case clean != dest || path.IsAbs(dest) || !filepath.IsLocal(filepath.FromSlash(dest)):
		return fmt.Errorf("%q is no place below the library folder", dest)
	case path.Ext(dest) == ".mpy":
		return fmt.Errorf("%s: terminals run source, not .mpy files", dest)
	case len(r.p.Files) >= limits.FlashFiles:
		return fmt.Errorf("it has more than %d files", limits.FlashFiles)
	}
	data, err := r.read(source)
	if err != nil {
		return err
	}
	if r.size += len(data); r.size > limits.FlashBytes {
		return fmt.Errorf("it has more than %d bytes", limits.FlashBytes)
	}
	r.p.Files = append(r.p.Files, File{dest, data})
	return nil
}

// json reads a package.json.
func (r *reader) json() (bool, error) {
	text, err := r.read("package.json")
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var file struct {
		URLs    [][]string `json:"urls"`
		Hashes  [][]string `json:"hashes"`
		Deps    [][]string `json:"deps"`
		Version string     `json:"version"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return false, fmt.Errorf("package.json: %w", err)
	}
	if len(file.Hashes) > 0 {
		return false, errors.New("package.json: files by hash come from a server only")
	}
	r.p.Version = file.Version
	for _, entry := range file.URLs {
		if len(entry) != 2 {
			return false, errors.New(`package.json: each of "urls" is a destination and a source`)
		}
		if strings.Contains(entry[1], ":") {
			return false, fmt.Errorf("package.json: %s is on a server: only files of the folder can be installed", entry[1])
		}
		if err := r.add(entry[0], entry[1]); err != nil {
			return false, err
		}
	}
	for _, dep := range file.Deps {
		if len(dep) > 0 {
			r.p.Needs = append(r.p.Needs, dep[0])
		}
	}
	return true, nil
}

// call is one call of a manifest.py: its name and its first argument, and the version of metadata.
var (
	call    = regexp.MustCompile(`(?m)^(\w+)\(\s*(?:"([^"\n]*)"|'([^'\n]*)')`)
	version = regexp.MustCompile(`(?m)^metadata\([^)]*version\s*=\s*["']([^"'\n]*)["']`)
)

// manifest reads the calls of a manifest.py. It is read, not run.
func (r *reader) manifest() (bool, error) {
	text, err := r.read("manifest.py")
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if m := version.FindSubmatch(text); m != nil {
		r.p.Version = string(m[1])
	}
	for _, m := range call.FindAllSubmatch(text, -1) {
		arg := string(m[2]) + string(m[3])
		switch string(m[1]) {
		case "module":
			err = r.add(arg, arg)
		case "package":
			err = r.tree(arg)
		case "require":
			r.p.Needs = append(r.p.Needs, arg)
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// plain takes a folder as it lies: itself when it is a package, else the modules and packages in it.
func (r *reader) plain() (bool, error) {
	if _, err := r.root.Stat("__init__.py"); err == nil {
		return true, r.walk(".", r.p.Name)
	}
	entries, err := fs.ReadDir(r.root.FS(), ".")
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		switch {
		case e.IsDir() && wanted(e.Name()):
			err = r.tree(e.Name())
		case path.Ext(e.Name()) == ".py" && e.Name() != "setup.py":
			err = r.add(e.Name(), e.Name())
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// tree adds a folder's Python files under its own name.
func (r *reader) tree(folder string) error { return r.walk(folder, folder) }

func (r *reader) walk(folder, dest string) error {
	return fs.WalkDir(r.root.FS(), folder, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != folder && !wanted(d.Name()):
			return fs.SkipDir
		case d.IsDir() || path.Ext(p) != ".py":
			return nil
		}
		below := p
		if folder != "." {
			below = strings.TrimPrefix(p, folder+"/")
		}
		return r.add(path.Join(dest, below), p)
	})
}

// wanted leaves out what belongs to the making of a package.
func wanted(folder string) bool {
	return folder[0] != '.' && folder != "__pycache__" && folder != "tests" && folder != "examples" && folder != "docs"
}
