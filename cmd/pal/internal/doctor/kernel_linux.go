package doctor

import (
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
