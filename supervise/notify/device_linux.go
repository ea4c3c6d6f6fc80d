package notify

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// device is the hardware's watchdog as the kernel shows it: every write feeds it, and closing it disarms it only after a V.
type device struct {
	path    string
	file    *os.File
	control func(fd uintptr, request uint, seconds *int32) error
}

func openDevice(path string) (dog, error) {
	info, err := os.Stat(path)
	if err == nil && info.Mode()&fs.ModeCharDevice == 0 {
		err = errors.New("it is no device")
	}
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, explain(err)
	}
	return &device{path, f, control}, nil
}

func explain(err error) error {
	if errors.Is(err, unix.EBUSY) {
		return errors.New("another process has it: systemd does with RuntimeWatchdogSec, then leave `watchdog` empty")
	}
	return err
}

func control(fd uintptr, request uint, seconds *int32) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, fd, uintptr(request), uintptr(unsafe.Pointer(seconds))); errno != 0 {
		return errno
	}
	return nil
}

func (d *device) name() string { return d.path }

// arm asks for a patience in whole seconds. The driver may round it, or have one that cannot be changed.
func (d *device) arm(want time.Duration) (time.Duration, error) {
	fd := d.file.Fd()
	seconds := int32(want / time.Second)
	err := d.control(fd, unix.WDIOC_SETTIMEOUT, &seconds)
	if err != nil {
		if getErr := d.control(fd, unix.WDIOC_GETTIMEOUT, &seconds); getErr != nil {
			return 0, fmt.Errorf("its timeout is not known: %w", errors.Join(err, getErr))
		}
	}
	if seconds <= 0 {
		return 0, errors.Join(err, fmt.Errorf("its timeout of %d s is none", seconds))
	}
	return time.Duration(seconds) * time.Second, err
}

func (d *device) feed() error {
	_, err := d.file.Write([]byte{'\n'})
	return err
}

func (d *device) close(orderly bool) error {
	var err error
	if orderly {
		_, err = d.file.Write([]byte{'V'})
	}
	return errors.Join(err, d.file.Close())
}
