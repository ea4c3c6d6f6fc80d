// Package lease says who has what to himself: leases of actors and the resources of tasks.
//
// # Model
//
// A [Book] holds claims on pins. A claim to drive is exclusive; claims to read are shared and stand in nobody's way. A lease is
// an actor's, ends by time, by release, or with the connection that took it unless it is to be kept; a task's claim ends with the
// task. The pin table asks the book at every drive ([Book.Holder]); a bus is claimed by its lines.
//
// # What it refuses
//
// To let two hold the same thing; the refusal names the holder and since when. It drives nothing: whoever is told of a lease that
// ended makes its outputs safe.
package lease

import (
	"time"

	"github.com/pal-terminal/pal/pin"
)

// Claim is one resource held.
type Claim struct {
	ID       string // of the lease or the task
	Actor    string
	Task     string // task id, empty for a lease
	Drive    bool
	Resource string // as it was asked for: a pin's label or a bus
	Pins     []pin.Handle
	Since    time.Time
	Expires  time.Time // zero for a task's
	Conn     uint64    // 0 when it was to be kept
}
