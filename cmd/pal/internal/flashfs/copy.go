package flashfs

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// Step is a file to copy, or a folder to make.
type Step struct {
	From, To Place
	Folder   bool   // To is made; From is nothing to read
	Size     int64  // of the file
	data     []byte // of a file that was read already
}

// Plan returns the steps that copy files, and with deep folders, to a place: into it when it is a folder, is written as one, or is to
// take several. Folders come before what is in them.
func (s *Store) Plan(ctx context.Context, from []Place, to Place, deep bool) ([]Step, error) {
	dest, err := s.look(ctx, to)
	if err != nil {
		return nil, err
	}
	into := dest.folder || to.folder
	if len(from) > 1 && !into {
		return nil, localf("%s is no folder, which several copies need: write %s/ to make it", to, to)
	}
	var steps []Step
	if to.folder && !dest.there {
		steps = append(steps, Step{To: to, Folder: true})
	}
	for _, source := range from {
		if !source.Remote && !to.Remote {
			return nil, localf("neither %s nor %s is on the terminal: write a colon before the one that is", source, to)
		}
		target := to
		if name := source.base(); into && name != "" {
			if target, err = to.join(name); err != nil {
				return nil, err
			}
		}
		if steps, err = s.plan(ctx, steps, source, target, deep); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// plan adds the steps of one source.
func (s *Store) plan(ctx context.Context, steps []Step, from, to Place, deep bool) ([]Step, error) {
	e, err := s.look(ctx, from)
	switch {
	case err != nil:
		return nil, err
	case !e.there && from.Remote:
		return nil, &protocol.Error{Code: protocol.CodeNotFound, Message: from.Path + ": there is no such file", Resource: from.Path}
	case !e.there:
		return nil, localf("there is no file %s", from)
	case e.folder && !deep:
		return nil, localf("%s is a folder: copy it with -r", from)
	case from.Remote && to.Remote && (from.Path == to.Path || e.folder && strings.HasPrefix(to.Path+"/", strings.TrimSuffix(from.Path, "/")+"/")):
		return nil, localf("%s cannot be copied to itself", from)
	case !e.folder:
		return addFile(steps, Step{From: from, To: to, Size: e.size})
	}
	steps = append(steps, Step{From: from, To: to, Folder: true})
	below := s.below
	if !from.Remote {
		below = localBelow
	}
	list, err := below(ctx, from)
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		step := Step{Folder: f.Folder, Size: f.Size}
		if step.From, err = from.join(f.Path); err != nil {
			return nil, err
		}
		if step.To, err = to.join(f.Path); err != nil {
			return nil, err
		}
		if steps, err = addFile(steps, step); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

func addFile(steps []Step, step Step) ([]Step, error) {
	switch {
	case step.To.Remote && !utf8.ValidString(step.To.Path):
		return nil, localf("%q: a name on the terminal is UTF-8", step.From.Path)
	case !step.Folder && step.To.Remote && step.Size > limits.FileBytes:
		return nil, tooLarge(step.From)
	}
	return append(steps, step), nil
}

// below lists what is in a folder of the terminal, with paths relative to it. What a terminal says is not trusted: see Place.join.
func (s *Store) below(ctx context.Context, folder Place) ([]protocol.FileEntry, error) {
	answer, err := s.c.FS(ctx, protocol.FS{Op: "ls", Path: folder.Path, Deep: true})
	if err != nil {
		return nil, err
	}
	for i, e := range answer.Entries {
		rel, ok := strings.CutPrefix(e.Path, strings.TrimSuffix(folder.Path, "/")+"/")
		if !ok || rel == "." || !fs.ValidPath(rel) {
			return nil, fmt.Errorf("list %s: the terminal told of %q, which is not in it", folder, e.Path)
		}
		answer.Entries[i].Path = rel
	}
	return answer.Entries, nil
}

func localBelow(_ context.Context, folder Place) ([]protocol.FileEntry, error) {
	var list []protocol.FileEntry
	err := fs.WalkDir(os.DirFS(folder.Path), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case p == ".":
			return nil
		case len(list) >= limits.FlashFiles:
			return fmt.Errorf("%s has more than the %d files that a terminal keeps", folder, limits.FlashFiles)
		case d.IsDir():
			list = append(list, protocol.FileEntry{Path: p, Folder: true})
			return nil
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is no regular file", filepath.Join(folder.Path, p))
		}
		info, err := d.Info()
		if err == nil {
			list = append(list, protocol.FileEntry{Path: p, Size: info.Size()})
		}
		return err
	})
	if err != nil {
		return nil, &LocalError{err}
	}
	return list, nil
}

// Put is the step that writes data to a place, and which says where it is from.
func Put(from Place, to Place, data []byte) Step {
	return Step{From: from, To: to, Size: int64(len(data)), data: data}
}

// Do does a step, and reports whether there was something to do: the same file may be there already, and then it is only written with force.
func (s *Store) Do(ctx context.Context, step Step, force bool) (changed bool, err error) {
	if step.Folder {
		if step.To.Remote {
			_, err = s.c.FS(ctx, protocol.FS{Op: "mkdir", Path: step.To.Path})
		} else {
			err = os.MkdirAll(step.To.Path, 0o755) //nolint:gosec // a folder like any other that a person makes
		}
		return true, err
	}
	if !force {
		was, err := s.hash(ctx, step.To)
		if err != nil {
			return false, err
		}
		now := ""
		if step.data != nil {
			now = Hash(step.data)
		} else if was != "" {
			now, err = s.hash(ctx, step.From)
		}
		if err != nil || was != "" && was == now {
			return false, err
		}
	}
	data := step.data
	if data == nil {
		if data, err = s.Read(ctx, step.From); err != nil {
			return false, err
		}
	}
	return true, s.write(ctx, step.To, data)
}
