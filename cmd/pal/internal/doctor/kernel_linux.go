package doctor

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernelChecks looks at what the kernel offers for the machine's sandbox.
func kernelChecks() []Check {
	landlock := Check{Name: "kernel landlock"}
	// Asking for the version is done with no attributes and flag 1.
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(nil)), 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno == 0 {
		landlock.OK, landlock.Detail = true, fmt.Sprintf("version %d", version)
	} else {
		landlock.Detail = "not offered: " + errno.Error()
	}
	seccomp := Check{Name: "kernel seccomp"}
	actions, err := os.ReadFile("/proc/sys/kernel/seccomp/actions_avail")
	if err == nil {
		seccomp.OK, seccomp.Detail = true, strings.TrimSpace(string(actions))
	} else {
		seccomp.Detail = "not offered: " + err.Error()
	}
	return []Check{landlock, seccomp}
}

// freeBytes is what this user can write in a folder.
func freeBytes(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil // 32 bits on some processors
}

// unsynchronised asks the kernel whether something keeps its clock right.
func unsynchronised() error {
	var t unix.Timex // with no modes it is only read
	state, err := unix.Adjtimex(&t)
	if err != nil {
		return fmt.Errorf("the kernel does not tell whether it is synchronised: %w", err)
	}
	if state == unix.TIME_ERROR || t.Status&unix.STA_UNSYNC != 0 {
		return errors.New("nothing synchronises it: tasks of cron and at run by a clock that drifts; systemd-timesyncd or chrony mends that")
	}
	return nil
}

func mayWrite(path string) error { return unix.Access(path, unix.W_OK) }
