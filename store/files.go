package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pal-terminal/pal/limits"
)

// quarantine is the folder of what was damaged. Nothing in it is ever removed or read by PAL.
const quarantine = "quarantine"

// fresh ends the name of what is being written and has not its name yet. A crash may leave one; the next Replace takes it.
const fresh = ".new"

// errTooLong is a file that is longer than anything that was written.
var errTooLong = errors.New("it is too long")

// Replace gives a file other content, or makes it. When it returns nil the content is durable; after an error or a cut the old or the
// new is there, whole. A file is replaced by one caller at a time.
func Replace(d Disk, name string, content []byte) error {
	temp := name + fresh
	f, err := d.Open(temp, true)
	if err != nil {
		return err
	}
	if err = errors.Join(overwrite(f, content), f.Close()); err == nil {
		err = d.Rename(temp, name)
	}
	if err != nil {
		d.Remove(temp) //nolint:errcheck // the next Replace takes it
		return err
	}
	return d.Sync(folderOf(name))
}

// overwrite makes content, written in place, what a file durably holds. It needs no room when the file is as long.
func overwrite(f File, content []byte) error {
	if _, err := f.WriteAt(content, 0); err != nil {
		return err
	}
	if size, err := f.Size(); err != nil || size != int64(len(content)) {
		if err := errors.Join(err, f.Truncate(int64(len(content)))); err != nil {
			return err
		}
	}
	return f.Sync()
}

// Read returns what a file holds. A file of more than limit bytes is an error.
func Read(d Disk, name string, limit int) ([]byte, error) {
	f, err := d.Open(name, false)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.NewSectionReader(f, 0, int64(limit)+1))
	if err == nil && len(b) > limit {
		err = errTooLong
	}
	return b, errors.Join(err, f.Close())
}

func folderOf(name string) string { return strings.TrimSuffix(path.Dir(name), ".") }

// aside returns a free name in the quarantine, which is there, durably.
func aside(d Disk, name string) (string, error) {
	if err := d.Mkdir(quarantine); err != nil {
		return "", err
	}
	taken, err := d.List(quarantine)
	if err = errors.Join(err, d.Sync("")); err != nil {
		return "", err
	}
	name = strings.ReplaceAll(name, "/", ".")
	name = strings.ToValidUTF8(name[:min(len(name), limits.FileNameBytes/2)], "")
	for n := 1; ; n++ {
		if free := fmt.Sprintf("%s.%d", name, n); !slices.Contains(taken, free) {
			return quarantine + "/" + free, nil
		}
	}
}

// moveAside puts a file in quarantine.
func moveAside(d Disk, name string) error {
	to, err := aside(d, name)
	if err != nil {
		return err
	}
	if err := d.Rename(name, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(d.Sync(quarantine), d.Sync(folderOf(name)))
}

// missing is the problem of a text that is not there.
const missing = "it is not there"

// readText returns the text of a file of one sector, or what is wrong with it. What was damaged is copied to quarantine, if that can
// be, since its writer overwrites it.
func readText(d Disk, name string) (text, problem string) {
	raw, err := Read(d, name, limits.LatchBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return "", missing
	}
	if err != nil {
		return "", err.Error()
	}
	if text, problem = unsealText(name, raw); problem != "" {
		if to, err := aside(d, name); err == nil {
			Replace(d, to, raw) //nolint:errcheck // what is damaged is told in any case
		}
	}
	return text, problem
}
