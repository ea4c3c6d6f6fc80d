package limits

import "time"

// Bounds on the chain that watches the guard. From a hang to its end nothing takes longer than
// WatchdogTimeout + WatchdogProbe + WatchdogAbort, which stays below GuardWatchdog.
const (
	WatchdogTimeout = 7 * time.Second
	WatchdogPeriod  = 2 * time.Second
	WatchdogProbe   = time.Second
	WatchdogAbort   = time.Second
	StatusTextBytes = 256
	StableLook      = time.Second
	ThreadSweep     = time.Second
	RealtimePrio    = 10
	MachineNice     = 1
	NetworkFile     = 64 << 10
	SupervisorWord  = 64
)
