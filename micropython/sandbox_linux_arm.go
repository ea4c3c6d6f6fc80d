//go:build linux && arm

package micropython

const mmapCall = "mmap2"

var allowedCalls = []string{
	"read", "write", "close", "recv", "recvfrom", "sendto", "ppoll", "ppoll_time64", "futex", "futex_time64", "munmap", "madvise",
	"nanosleep", "clock_nanosleep", "clock_nanosleep_time64", "clock_gettime", "clock_gettime64", "clock_getres", "getpid", "gettid",
	"sched_yield", "sched_getaffinity", "getrandom", "sigaltstack", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn",
	"restart_syscall", "exit", "exit_group", "epoll_pwait", "epoll_ctl", "eventfd2", "pread64", "set_robust_list", "set_tls",
	"cacheflush", "getrusage",
}
