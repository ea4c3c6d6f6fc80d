//go:build linux && (amd64 || arm64)

package micropython

const mmapCall = "mmap"

var allowedCalls = []string{
	"read", "write", "close", "recvfrom", "sendto", "ppoll", "futex", "munmap", "madvise", "nanosleep", "clock_nanosleep",
	"clock_gettime", "clock_getres", "getpid", "gettid", "sched_yield", "sched_getaffinity", "getrandom", "sigaltstack",
	"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "restart_syscall", "exit", "exit_group", "epoll_pwait", "epoll_ctl",
	"eventfd2", "pread64", "set_robust_list", "rseq", "getrusage",
}
