package client

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/transport"
)

// landlord is a terminal's side of leases: it gives one, counts renewals, and does with each what renew says.
type landlord struct {
	renew func(n int) error // nil says yes; errSilent says nothing

	mu       sync.Mutex
	renewals []time.Duration // since the lease was taken
	ttl      []int64
	taken    time.Time
	released int
}

var errSilent = errors.New("no answer")

func (l *landlord) serve(f *fake, r *protocol.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Type == protocol.TypeLeaseRelease {
		l.released++
		f.say(leases(protocol.NewHeader(r.ID, "lease")))
		return
	}
	body := r.Body.(*protocol.Lease)
	l.ttl = append(l.ttl, *body.TTLMS)
	if body.LeaseID == "" {
		l.taken = time.Now()
		f.say(leases(protocol.NewHeader(r.ID, "lease")))
		return
	}
	l.renewals = append(l.renewals, time.Since(l.taken))
	var err error
	if l.renew != nil {
		err = l.renew(len(l.renewals))
	}
	switch {
	case err == nil:
		f.say(leases(protocol.NewHeader(r.ID, "lease")))
	case !errors.Is(err, errSilent):
		f.refuse(r, err)
	}
}

// counts returns how many renewals and releases there were.
func (l *landlord) counts() (renewals, released int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.renewals), l.released
}

var ledFor3s = protocol.Lease{Resources: []protocol.ResourceUse{{Resource: "LED"}}, TTLMS: ptr(int64(3000))}

func mustHold(ctx context.Context, t *testing.T, l *landlord, want protocol.Lease) (*Hold, *Client) {
	t.Helper()
	c, _ := overPipe(t, l.serve)
	h, err := c.HoldLease(ctx, want)
	if err != nil {
		t.Fatal(err)
	}
	if got := h.Lease().LeaseID; got != "l1" || h.Err() != nil {
		t.Fatalf("got lease %q, %v; want l1 held", got, h.Err())
	}
	return h, c
}

func TestHoldLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &landlord{}
		h, _ := mustHold(t.Context(), t, l, ledFor3s)
		<-time.After(10*time.Second + 500*time.Millisecond)
		synctest.Wait()
		l.mu.Lock()
		for i, at := range l.renewals {
			if want := time.Duration(i+1) * time.Second; at != want {
				t.Errorf("renewal %d: got at %v, want %v", i, at, want)
			}
		}
		for i, ttl := range l.ttl {
			if ttl != 3000 {
				t.Errorf("request %d: got ttl_ms %d, want 3000", i, ttl)
			}
		}
		l.mu.Unlock()
		for range 2 {
			if err := h.Release(); err != nil {
				t.Errorf("Release: got %v, want none", err)
			}
		}
		<-time.After(time.Minute)
		if renewals, released := l.counts(); renewals != 10 || released != 1 || h.Err() != nil {
			t.Errorf("got %d renewals, %d releases, %v; want 10, 1 and no error", renewals, released, h.Err())
		}
	})
}

func TestHoldLeaseDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &landlord{}
		h, _ := mustHold(t.Context(), t, l, protocol.Lease{Resources: ledFor3s.Resources})
		if got := l.ttl[0]; got != limits.LeaseDefault.Milliseconds() {
			t.Errorf("got ttl_ms %d, want the default said", got)
		}
		if err := h.Release(); err != nil {
			t.Error(err)
		}
	})
}

// The end of the context is a release.
func TestHoldLeaseEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &landlord{}
		ctx, cancel := context.WithCancel(t.Context())
		h, _ := mustHold(ctx, t, l, ledFor3s)
		cancel()
		<-h.Done()
		if renewals, released := l.counts(); renewals != 0 || released != 1 || h.Err() != nil {
			t.Errorf("got %d renewals, %d releases, %v; want one release and no error", renewals, released, h.Err())
		}
	})
}

func TestHoldLeaseLost(t *testing.T) {
	gone := &protocol.Error{Code: protocol.CodeNotFound, Message: "no such lease"}
	busy := &protocol.Error{Code: protocol.CodeBusy, Message: "8 wait"}
	tests := []struct {
		name     string
		renew    func(n int) error
		after    time.Duration
		renewals int
		is       error
		code     protocol.Code
	}{
		{"refused", func(int) error { return gone }, time.Second, 1, nil, protocol.CodeNotFound},
		{"refused later", func(n int) error {
			if n < 3 {
				return nil
			}
			return gone
		}, 3 * time.Second, 3, nil, protocol.CodeNotFound},
		{"silent", func(int) error { return errSilent }, 3 * time.Second, 1, context.DeadlineExceeded, ""},
		{"busy to the end", func(int) error { return busy }, 3 * time.Second, 2, context.DeadlineExceeded, ""},
		{"busy after a renewal", func(n int) error {
			if n == 1 {
				return nil
			}
			return busy
		}, 4 * time.Second, 3, context.DeadlineExceeded, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &landlord{renew: tt.renew}
				start := time.Now()
				h, _ := mustHold(t.Context(), t, l, ledFor3s)
				<-h.Done()
				if got := time.Since(start); got != tt.after {
					t.Errorf("got the loss after %v, want %v", got, tt.after)
				}
				if renewals, _ := l.counts(); renewals != tt.renewals {
					t.Errorf("got %d renewals, want %d", renewals, tt.renewals)
				}
				err := h.Release()
				if e, ok := errors.AsType[*protocol.Error](err); err == nil || tt.is != nil && !errors.Is(err, tt.is) || tt.code != "" && (!ok || e.Code != tt.code) {
					t.Errorf("got %v, want %v %s", err, tt.is, tt.code)
				}
			})
		})
	}
}

// One renewal that was refused for now loses nothing.
func TestHoldLeaseTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &landlord{}
		l.renew = func(n int) error {
			if n%2 != 0 {
				return &protocol.Error{Code: protocol.CodeBusy, Message: "8 wait"}
			}
			return nil
		}
		h, _ := mustHold(t.Context(), t, l, ledFor3s)
		<-time.After(20*time.Second + 500*time.Millisecond)
		if err := h.Release(); err != nil {
			t.Errorf("got %v, want the lease held to its release", err)
		}
	})
}

func TestHoldLeaseEndsWithConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, c := mustHold(t.Context(), t, &landlord{}, ledFor3s)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		<-h.Done()
		if err := h.Err(); !errors.Is(err, transport.ErrClosed) {
			t.Errorf("got %v, want that the connection ended", err)
		}
	})
}

func TestHoldLeaseRefused(t *testing.T) {
	c, f := overPipe(t, func(f *fake, r *protocol.Request) {
		f.refuse(r, &protocol.Error{Code: protocol.CodeConflict, Message: "taken", Holder: "agent-7"})
	})
	_, err := c.HoldLease(t.Context(), ledFor3s)
	wantCode(t, err, protocol.CodeConflict)
	_, err = c.HoldLease(t.Context(), protocol.Lease{LeaseID: "l1"})
	wantCode(t, err, protocol.CodeBadRequest)
	_, err = c.HoldLease(t.Context(), protocol.Lease{})
	wantCode(t, err, protocol.CodeBadRequest)
	if got := len(f.requests(protocol.TypeLease)); got != 1 {
		t.Errorf("got %d requests, want the one that could be meant", got)
	}
}
