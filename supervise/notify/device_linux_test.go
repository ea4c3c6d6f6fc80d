package notify

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal makes a pair of which the far end is a character device, as a watchdog is.
func terminal(t *testing.T) (near *os.File, path string) {
	t.Helper()
	near, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close() })
	fd := int(near.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	path = "/dev/pts/" + strconv.Itoa(n)
	far, openErr := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0)
	if err := errors.Join(err, openErr); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { far.Close() }) // keeps the pair together when the feeder closes its own
	mode, err := unix.IoctlGetTermios(int(far.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	mode.Oflag &^= unix.OPOST
	if err := unix.IoctlSetTermios(int(far.Fd()), unix.TCSETS, mode); err != nil {
		t.Fatal(err)
	}
	return near, path
}

func TestDevice(t *testing.T) {
	for _, orderly := range []bool{true, false} {
		near, path := terminal(t)
		f, err := New(Options{Device: path, Period: time.Millisecond, Probes: []Probe{{"p", func(context.Context) error { return nil }}}})
		if err != nil {
			t.Fatal(err)
		}
		fed := make([]byte, 3)
		if _, err := io.ReadFull(near, fed); err != nil || string(fed) != "\n\n\n" {
			t.Fatalf("the device was fed %q (%v)", fed, err)
		}
		if err := f.Close(orderly); err != nil {
			t.Fatal(err)
		}
		// What the kernel still has is all there is: mark its end.
		far, err := os.OpenFile(path, os.O_WRONLY|unix.O_NOCTTY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := far.WriteString("."); err != nil {
			t.Fatal(err)
		}
		far.Close()
		rest := ""
		for b := make([]byte, 64); !strings.HasSuffix(rest, "."); {
			n, err := near.Read(b)
			if err != nil {
				t.Fatal(err)
			}
			rest += string(b[:n])
		}
		if got := strings.Contains(rest, "V"); got != orderly {
			t.Errorf("orderly %v: the last words are %q", orderly, rest)
		}
	}
}

func TestDeviceTimeout(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for name, c := range map[string]struct {
		set, get error
		kernel   int32
		want     time.Duration
		bad      bool
	}{
		"takes it":         {nil, nil, 7, 7 * time.Second, false},
		"rounds it up":     {nil, nil, 16, 16 * time.Second, false},
		"has its own":      {unix.EOPNOTSUPP, nil, 60, time.Minute, true},
		"tells nothing":    {unix.ENOTTY, unix.ENOTTY, 0, 0, true},
		"has none":         {nil, nil, 0, 0, true},
		"tells a bad time": {unix.EINVAL, nil, -1, 0, true},
	} {
		d := &device{"/dev/null", null, func(_ uintptr, request uint, seconds *int32) error {
			if request == unix.WDIOC_SETTIMEOUT {
				if *seconds != 7 {
					t.Errorf("%s: asked for %d s", name, *seconds)
				}
				if c.set != nil {
					return c.set
				}
			} else if c.get != nil {
				return c.get
			}
			*seconds = c.kernel
			return nil
		}}
		if got, err := d.arm(7 * time.Second); got != c.want || (err != nil) != c.bad {
			t.Errorf("%s: got %v (%v), want %v", name, got, err, c.want)
		}
	}
}

func TestDeviceRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "watchdog")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{file: "it is no device", file + "2": "no such file"} {
		if _, err := New(Options{Device: path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
	if err := explain(unix.EBUSY); !strings.Contains(err.Error(), "RuntimeWatchdogSec") {
		t.Errorf("busy: got %v", err)
	}
}
