package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/store"
)

// addDisk looks whether what must survive a loss of power can be written, how fast, and how much of it.
func (f *Findings) addDisk(dir string) {
	took, err := syncTime(dir)
	if err == nil && took > limits.AuditPatience {
		err = fmt.Errorf("writing durably took %v, more than the %v that a request waits for the audit log: actuating will be refused", took, limits.AuditPatience)
	}
	f.Add("durable writes", true, err, fmt.Sprintf("fsync of a file and its folder in %v", took))
	free, err := freeBytes(dir)
	switch want := int64(limits.AuditSegmentBytes * limits.AuditSegments); {
	case err != nil:
		f.Add("free space", false, err, "")
	case free < limits.AuditReserve:
		f.Add("free space", true, fmt.Errorf("%d KiB: below %d KiB nothing may be actuated, since it could not be audited", free>>10, limits.AuditReserve>>10), "")
	case free < want:
		f.Add("free space", false, fmt.Errorf("%d MiB: the audit log grows to %d MiB", free>>20, want>>20), "")
	default:
		f.Add("free space", false, nil, fmt.Sprintf("%d MiB, the audit log needs %d", free>>20, want>>20))
	}
}

// syncTime makes a small file durable and takes it away.
func syncTime(dir string) (time.Duration, error) {
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return 0, err
	}
	began := time.Now()
	_, err = probe.Write(make([]byte, limits.LatchBytes))
	err = errors.Join(err, probe.Sync(), syncFolder(dir))
	took := time.Since(began).Round(10 * time.Microsecond)
	return took, errors.Join(err, probe.Close(), os.Remove(probe.Name()))
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// addKept tells what the last terminal left: the e-stop and the counter of failed starts.
func (f *Findings) addKept(o Options) {
	disk := readOnly(o.State)
	if o.Latch != "" {
		err := error(nil)
		if disk.has(o.Latch) {
			_, found, _ := store.OpenLatch(disk, o.Latch, true) // the error is that nothing was written
			err = latched(found)
		}
		f.Add("e-stop", false, err, "not set")
	}
	if o.Starts != "" {
		failed, previous, _ := store.OpenStarts(disk, o.Starts).Begin("", time.Now()) // as above
		f.Add("starts", false, startsFailed(failed, previous), fmt.Sprintf("%d of %d failed in a row before safe mode", failed, limits.FailedStarts))
	}
}

func latched(found store.LatchState) error {
	switch {
	case found.Damaged != "":
		return fmt.Errorf("its file cannot be believed (%s), which counts as set: a person clears it with `pal release`", found.Damaged)
	case found.Set:
		return fmt.Errorf("set by %s at %s (%s): a person clears it with `pal release`", found.Actor, found.At.Format(time.RFC3339), found.Reason)
	}
	return nil
}

func startsFailed(failed int, previous store.Previous) error {
	switch {
	case previous.Damaged != "":
		return fmt.Errorf("the counter cannot be believed (%s), which counts as one failed start", previous.Damaged)
	case failed >= limits.FailedStarts:
		return fmt.Errorf("%d in a row failed: the terminal starts in safe mode, without programs and tasks, until `pal safe-mode leave`", failed)
	case previous.Ending == store.Watchdog:
		return errors.New("the last run hung and was ended by the watchdog: its log tells where")
	}
	return nil
}

// readOnly is the disk in a folder that another process may own: nothing is ever written.
type readOnly string

func (d readOnly) has(name string) bool {
	_, err := os.Lstat(filepath.Join(string(d), name))
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}

func (d readOnly) Open(name string, _ bool) (store.File, error) {
	path := filepath.Join(string(d), name)
	if info, err := os.Lstat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(file, limits.RecordBytes))
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	return frozen{bytes.NewReader(b)}, nil
}

func (readOnly) Rename(string, string) error   { return syscall.EROFS }
func (readOnly) Remove(string) error           { return syscall.EROFS }
func (readOnly) Mkdir(string) error            { return syscall.EROFS }
func (readOnly) Sync(string) error             { return syscall.EROFS }
func (readOnly) List(string) ([]string, error) { return nil, nil }
func (readOnly) Free() (int64, error)          { return -1, nil }

// frozen is what was in a file.
type frozen struct{ *bytes.Reader }

func (frozen) WriteAt([]byte, int64) (int, error) { return 0, syscall.EROFS }
func (frozen) Truncate(int64) error               { return syscall.EROFS }
func (frozen) Sync() error                        { return syscall.EROFS }
func (frozen) Close() error                       { return nil }
func (f frozen) Size() (int64, error)             { return f.Reader.Size(), nil }
