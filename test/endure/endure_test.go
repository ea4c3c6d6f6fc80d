// Package endure tests that nothing that was acknowledged is lost, nothing is done twice and no output is left on, whatever becomes
// of the power, the disk, the connections and the process.
//
// # Model
//
// A world is one terminal over many lives: the real door, guard, tasks, ledger and audit log on a disk in memory that loses power
// ([crash.Disk]), with simulated hardware that counts what is driven, for which command, and machines that run programs of one line.
// It runs in the time of a bubble, so that a life of minutes takes milliseconds. Clients know what they were told; after each start
// the terminal is held to that. What a terminal says or drives after its power went was heard and done by nobody.
//
// Beside it the real program is ended by SIGKILL under load.
//
// PAL_SOAK=n does n times as much. The single parts have tests of their own: the steps of tasks in package task, of leases and the
// guard in package lease, of latch and records in package store.
package endure

import (
	"os"
	"strconv"
)

// soak multiplies the work of a test by PAL_SOAK.
func soak(n int) int {
	if more, err := strconv.Atoi(os.Getenv("PAL_SOAK")); err == nil && more > 0 {
		return n * more
	}
	return n
}
