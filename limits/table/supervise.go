package table

import "github.com/pal-terminal/pal/limits"

func watchdogs() []Bound {
	return []Bound{
		span("WatchdogTimeout", limits.WatchdogTimeout, "with a probe's time and an abort's it stays within GuardWatchdog", "the supervisor aborts the guard, the hardware resets the machine"),
		span("WatchdogPeriod", limits.WatchdogPeriod, "two rounds may fail and the third still comes in time", "not a limit: the time between two rounds of probes"),
		span("WatchdogProbe", limits.WatchdogProbe, "what lives answers in milliseconds, on a busy machine in some hundred", "the probe has failed: nothing is fed in this round"),
		span("WatchdogAbort", limits.WatchdogAbort, "enough to write where each goroutine hangs", "the supervisor kills the guard"),
		size("StatusTextBytes", limits.StatusTextBytes, "one line of systemctl status", "the text is cut"),
		span("StableLook", limits.StableLook, "a fraction of StableAfter", "not a limit: the period of the look"),
		span("ThreadSweep", limits.ThreadSweep, "threads come seldom once a terminal is warm", "not a limit: a new thread is an ordinary one for that long"),
		count("RealtimePrio", limits.RealtimePrio, "priority", "above every ordinary process, below the kernel's own threads", "not a limit: what is asked for"),
		count("MachineNice", limits.MachineNice, "niceness", "the guard comes first; more would starve machines where others compute, and a loop could not be interrupted in time", "not a limit: what is set"),
		size("NetworkFile", limits.NetworkFile, "a routing table of hundreds of lines", "the rest is not read"),
		size("SupervisorWord", limits.SupervisorWord, "the longest result that systemd has is half of it", "it is taken for damaged"),
	}
}
