package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// Lease takes resources, or renews the lease whose id is given.
func (c *Client) Lease(ctx context.Context, l protocol.Lease) (*protocol.LeaseInfo, error) {
	if l.LeaseID == "" && len(l.Resources) == 0 {
		return nil, &protocol.Error{Code: protocol.CodeBadRequest, Message: "a lease needs resources, a renewal an id"}
	}
	return c.lease(ctx, protocol.TypeLease, l.LeaseID, &l)
}

// Leases lists who has claimed what.
func (c *Client) Leases(ctx context.Context) ([]protocol.LeaseInfo, error) {
	a, err := ask[*protocol.Leases](ctx, c, protocol.TypeLease, &protocol.Lease{})
	if err != nil {
		return nil, err
	}
	return a.Leases, nil
}

// LeaseRelease ends a lease and returns what it was.
func (c *Client) LeaseRelease(ctx context.Context, id string) (*protocol.LeaseInfo, error) {
	return c.lease(ctx, protocol.TypeLeaseRelease, id, &protocol.LeaseRelease{LeaseID: id})
}

// lease asks for something about one lease. A new one has no id yet.
func (c *Client) lease(ctx context.Context, typ, id string, body any) (*protocol.LeaseInfo, error) {
	a, err := ask[*protocol.Leases](ctx, c, typ, body)
	if err != nil {
		return nil, err
	}
	if len(a.Leases) != 1 || a.Leases[0].LeaseID == "" || id != "" && a.Leases[0].LeaseID != id {
		return nil, fmt.Errorf("%s: the terminal answered about something else", typ)
	}
	return &a.Leases[0], nil
}

// Hold is a lease that is renewed until it is released.
type Hold struct {
	info protocol.LeaseInfo
	end  context.CancelFunc
	done chan struct{}
	err  error // set before done is closed
}

// HoldLease takes a lease and renews it until Release, the end of ctx, or its loss. A failed renewal is tried again as long as
// the lease may still stand; after that, and when the terminal says that it does not, [Hold.Done] is closed. Whoever drives under a
// lease watches that: what it held may be another's then, and its outputs are safe.
//
// The lease lives for TTLMS (limits.LeaseDefault when nil) from renewal to renewal, so it outlives a client that vanishes by no more.
func (c *Client) HoldLease(ctx context.Context, l protocol.Lease) (*Hold, error) {
	if l.LeaseID != "" {
		return nil, &protocol.Error{Code: protocol.CodeBadRequest, Message: "a lease to hold is taken anew: it has no id"}
	}
	life := limits.LeaseDefault
	if l.TTLMS != nil {
		life = time.Duration(min(max(*l.TTLMS, 1), limits.LeaseLongest.Milliseconds())) * time.Millisecond
	}
	ms := life.Milliseconds()
	l.TTLMS = &ms
	asked := time.Now() // the terminal counts from later on: we are never the last to know
	info, err := c.Lease(ctx, l)
	if err != nil {
		return nil, err
	}
	h := &Hold{info: *info, done: make(chan struct{})}
	ctx, h.end = context.WithCancel(ctx)
	go h.keep(ctx, c, life, asked)
	return h, nil
}

// Lease returns the lease as it was taken.
func (h *Hold) Lease() protocol.LeaseInfo { return h.info }

// Done is closed when the lease is no longer held.
func (h *Hold) Done() <-chan struct{} { return h.done }

// Err returns why the lease is no longer held: nil while it is, and after a release, by Release or the end of the context, that the
// terminal confirmed.
func (h *Hold) Err() error {
	select {
	case <-h.done:
		return h.err
	default:
		return nil
	}
}

// Release ends the lease and returns when the terminal has said so, with [Hold.Err]. It may be called twice.
func (h *Hold) Release() error {
	h.end()
	<-h.done
	return h.err
}

// keep is the goroutine of a hold. asked is when the newest request was sent that gave the lease its life.
func (h *Hold) keep(ctx context.Context, c *Client, life time.Duration, asked time.Time) {
	defer close(h.done)
	defer h.end()
	const tries = 3 // within one life
	pause := max(life/tries, time.Millisecond)
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			h.err = h.release(ctx, c)
			return
		case <-c.Done():
			h.err = fmt.Errorf("lease %s: %w", h.info.LeaseID, c.Err())
			return
		case <-timer.C:
		}
		now := time.Now()
		err := h.renew(ctx, c, life, asked.Add(life))
		switch {
		case err == nil:
			asked = now
		case ctx.Err() != nil: // it is to be released
		case refused(err) || time.Since(asked) >= life:
			h.err = fmt.Errorf("lease %s is lost: %w", h.info.LeaseID, err)
			return
		}
		timer.Reset(min(pause, max(time.Until(asked.Add(life)), 0)))
	}
}

// renew asks once for another life, until the end of this one at most.
func (h *Hold) renew(ctx context.Context, c *Client, life time.Duration, end time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	ms := life.Milliseconds()
	_, err := c.Lease(ctx, protocol.Lease{LeaseID: h.info.LeaseID, TTLMS: &ms})
	return err
}

// release ends the lease although the context has ended.
func (h *Hold) release(ended context.Context, c *Client) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ended), limits.InterruptWait)
	defer cancel()
	_, err := c.LeaseRelease(ctx, h.info.LeaseID)
	return err
}

// refused reports whether a terminal said no for good.
func refused(err error) bool {
	e, ok := errors.AsType[*protocol.Error](err)
	return ok && !e.Code.Retryable()
}
