package core

import (
	"errors"
	"sync"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/store"
	"github.com/pal-terminal/pal/task"
)

// latchKeeper makes the e-stop's latch durable and holds the tasks after it. One goroutine writes, and it writes what the pin table says in that moment, so that
// stops and releases that come at once end with the truth on the disk. It is not on the way of a stop: the outputs are safe before
// it is asked.
type latchKeeper struct {
	disk *store.Latch // nil: the latch lives as long as the process
	wake chan struct{}

	mu      sync.Mutex // guards what follows
	actor   string     // who stopped
	waiters []chan error
}

// settle waits until the disk says what the table says, at most limits.DriveTimeout: a disk that hangs must not hold up the word
// that the outputs are safe.
func (c *Core) settle(actor string) error {
	k := &c.latch
	done := make(chan error, 1)
	k.mu.Lock()
	if actor != "" {
		k.actor = actor
	}
	k.waiters = append(k.waiters, done)
	k.mu.Unlock()
	select {
	case k.wake <- struct{}{}:
	default:
	}
	timer := time.NewTimer(limits.DriveTimeout)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return errSlowLatch
	}
}

var errSlowLatch = errors.New("the disk has not taken the latch yet")

// keepLatch is the goroutine that writes the latch. What fails is tried again until it is written, and once more in the end.
func (c *Core) keepLatch() {
	failed := false
	for ended := false; !ended; {
		var retry <-chan time.Time
		if failed {
			retry = time.After(limits.AuditRetry)
		}
		select {
		case <-c.latch.wake:
		case <-retry:
		case <-c.ctx.Done():
			ended = true
		}
		err := c.writeLatch()
		if (err != nil) != failed {
			failed = err != nil
			c.cfg.Events.Emit("storage", map[string]any{"what": "estop", "lost": failed, "text": textOf(err)})
		}
	}
}

// writeLatch writes the state of the table and tells those who wait for it.
func (c *Core) writeLatch() error {
	k := &c.latch
	k.mu.Lock()
	waiters, actor := k.waiters, k.actor
	k.waiters = nil
	k.mu.Unlock()
	for {
		stopped, reason, since := c.cfg.Table.Stopped()
		var err error
		if m := c.manager; m != nil && stopped {
			m.Hold(task.HoldEstop)
		} else if m != nil {
			err = m.Unhold(task.HoldEstop)
		}
		switch {
		case k.disk == nil || err != nil:
		case stopped:
			err = k.disk.Set(reason, actor, since)
		default:
			err = k.disk.Clear()
		}
		if now, _, _ := c.cfg.Table.Stopped(); now == stopped || err != nil {
			for _, w := range waiters {
				w <- err
			}
			return err
		}
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
