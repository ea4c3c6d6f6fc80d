// Package latch keeps the e-stop's latch on the disk and the tasks held behind it.
//
// # Model
//
// The pin table's latch is the truth. A [Keeper] has one goroutine ([Keeper.Run]), which writes what the table says in that moment, so that
// stops and releases that come at once end with the truth on the disk. It is not on the way of a stop: the outputs are safe before it is
// asked, and [Keeper.Settle] does not wait for a disk that hangs.
//
// # What it refuses
//
// Nothing: what cannot be written is tried again until it is, and once more in the end.
package latch

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pal-terminal/pal/limits"
)

// Disk is where the latch survives.
type Disk interface {
	Set(reason, actor string, at time.Time) error
	Clear() error
}

// World is what a keeper stands between. All but Disk are required.
type World struct {
	Stopped func() (stopped bool, reason string, since time.Time) // what the pin table says
	Disk    Disk                                                  // nil: the latch lives as long as the process
	Hold    func()                                                // holds the tasks, each until it is resumed
	Unhold  func() error                                          // lets tasks run that nobody holds
	Tell    func(err error)                                       // hears when the disk does not take the latch, and with nil when it does again
}

// Keeper keeps one latch.
type Keeper struct {
	World
	wake chan struct{}

	mu      sync.Mutex // guards what follows
	actor   string     // who stopped
	waiters []chan error
}

// New returns a keeper; actor is who set the latch that was found at the start.
func New(actor string, w World) *Keeper {
	return &Keeper{World: w, actor: actor, wake: make(chan struct{}, 1)}
}

// errSlow says that Settle has not waited to the end.
var errSlow = errors.New("the disk has not taken the latch yet")

// Settle waits until the disk says what the table says. actor is who stopped, "" for a release. A stop waits limits.DriveTimeout at
// most; a release limits.AuditPatience, because it must not be called done before it is, and nothing is the worse for its waiting.
func (k *Keeper) Settle(actor string) error {
	done := make(chan error, 1)
	k.mu.Lock()
	patience := limits.AuditPatience
	if actor != "" {
		k.actor, patience = actor, limits.DriveTimeout
	}
	k.waiters = append(k.waiters, done)
	k.mu.Unlock()
	if actor != "" {
		k.Hold() // now: the keeper may be waiting for a disk that hangs
	}
	select {
	case k.wake <- struct{}{}:
	default: // it is awake
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return errSlow
	}
}

// Actor is who stopped last.
func (k *Keeper) Actor() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.actor
}

// Run writes until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	failed := false
	for ended := false; !ended; {
		var retry <-chan time.Time
		if failed {
			retry = time.After(limits.AuditRetry)
		}
		select {
		case <-k.wake:
		case <-retry:
		case <-ctx.Done():
			ended = true
		}
		if err := k.write(); (err != nil) != failed {
			failed = err != nil
			k.Tell(err)
		}
	}
}

// write writes the state of the table, until it has not changed meanwhile, and tells those who wait for it.
func (k *Keeper) write() error {
	k.mu.Lock()
	waiters, actor := k.waiters, k.actor
	k.waiters = nil
	k.mu.Unlock()
	for {
		stopped, reason, since := k.Stopped()
		err := k.put(stopped, reason, actor, since)
		if now, _, _ := k.Stopped(); now == stopped || err != nil {
			for _, w := range waiters {
				w <- err
			}
			return err
		}
	}
}

func (k *Keeper) put(stopped bool, reason, actor string, since time.Time) error {
	if stopped {
		k.Hold()
	} else if err := k.Unhold(); err != nil {
		return err
	}
	switch {
	case k.Disk == nil:
		return nil
	case stopped:
		return k.Disk.Set(reason, actor, since)
	default:
		return k.Disk.Clear()
	}
}
