package task

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pal-terminal/pal/limits"
)

// systemClock is the kernel's: CLOCK_BOOTTIME counts through suspend.
type systemClock struct{}

func (systemClock) Now() Time {
	var boot unix.Timespec
	wall := time.Now()
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) // every kernel that Go runs on has it
	return Time{Wall: wall.Round(0), Boot: time.Duration(boot.Nano())}
}

// Timer returns one made of timerfds: they wake to the microsecond, where the runtime's own timers sleep in whole milliseconds. A
// second one wakes the machine from suspend for what is due later than a nap; it needs a right that not everybody has.
func (systemClock) Timer() (Timer, error) {
	t := &fdTimer{c: make(chan struct{}, 1)}
	f, err := t.open(unix.CLOCK_BOOTTIME)
	if err != nil {
		return nil, err
	}
	t.near = f
	if far, err := t.open(unix.CLOCK_BOOTTIME_ALARM); err == nil {
		t.far = far
	}
	return t, nil
}

// fdTimer is a timer of the kernel. Its readers end when it is stopped.
type fdTimer struct {
	c         chan struct{}
	near, far *os.File // far may be nil
	readers   sync.WaitGroup
}

func (t *fdTimer) open(clock int) (*os.File, error) {
	fd, err := unix.TimerfdCreate(clock, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("timerfd of clock %d: %w", clock, err)
	}
	f := os.NewFile(uintptr(fd), "timer")
	t.readers.Go(func() {
		var fired [8]byte
		for {
			if _, err := f.Read(fired[:]); err != nil {
				return // it was stopped: a timerfd has no other end
			}
			if binary.NativeEndian.Uint64(fired[:]) > 0 {
				poke(t.c)
			}
		}
	})
	return f, nil
}

func (t *fdTimer) C() <-chan struct{} { return t.c }

func (t *fdTimer) Set(boot time.Duration) {
	select { // an older one has had its say
	case <-t.c:
	default:
	}
	arm(t.near, boot)
	if t.far != nil {
		now := systemClock{}.Now().Boot
		if boot-now < limits.TaskNapLongest {
			boot = 0
		}
		arm(t.far, boot)
	}
}

// arm sets a timerfd to a time of its clock; 0 disarms it.
func arm(f *os.File, boot time.Duration) {
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(int64(boot), 0))}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.TimerfdSettime(int(fd), unix.TFD_TIMER_ABSTIME, &spec, nil) // it takes every time that is not negative
	})
}

func (t *fdTimer) Stop() {
	_ = t.near.Close()
	if t.far != nil {
		_ = t.far.Close()
	}
	t.readers.Wait()
}
