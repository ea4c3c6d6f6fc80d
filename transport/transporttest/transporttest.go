// Package transporttest is the contract of transport.Conn as a test suite. Every implementation runs it:
//
//	transporttest.Run(t, func(t *testing.T) (a, b transport.Conn) { … })
package transporttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/transport"
)

// Factory returns the two ends of a new connection. What it starts is ended by t.Cleanup, and both ends are closed then.
type Factory func(t *testing.T) (a, b transport.Conn)

// patience bounds every wait of the suite; only a broken implementation uses it up.
const patience = 10 * time.Second

// Run runs the suite. It must not run in parallel with other tests, because it counts goroutines and descriptors.
func Run(t *testing.T, factory Factory) {
	t.Helper()
	tests := []struct {
		name string
		run  func(t *testing.T, a, b transport.Conn)
	}{
		{"order", order},
		{"sizes", sizes},
		{"empty message", empty},
		{"text", text},
		{"messages are copies", copies},
		{"both ways at once", bothWays},
		{"info is constant", infoConstant},
		{"sent before close arrives", sentBeforeClose},
		{"close unblocks both ends", closeUnblocks},
		{"close of both ends at once", closeTogether},
		{"close twice", closeTwice},
		{"reason reaches the peer", reason},
		{"a stalled write ends with close", stalledWrite},
		{"cancelled read", cancelledRead},
		{"cancelled write", cancelledWrite},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a, b := factory(t)
			t.Run("a to b", func(t *testing.T) { test.run(t, a, b) })
			a, b = factory(t)
			t.Run("b to a", func(t *testing.T) { test.run(t, b, a) })
		})
	}
	t.Run("nothing is left", func(t *testing.T) { nothingLeft(t, factory) })
}

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// send writes in the background and returns the error to come: a carrier need not hold a message that nobody reads.
func send(ctx context.Context, c transport.Conn, messages ...[]byte) <-chan error {
	sent := make(chan error, 1)
	go func() {
		for _, m := range messages {
			if err := c.Write(ctx, m); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	return sent
}

func wantMessage(ctx context.Context, t *testing.T, c transport.Conn, want []byte) {
	t.Helper()
	got, err := c.Read(ctx)
	if err != nil {
		t.Fatalf("Read: got error %v, want %d bytes", err, len(want))
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("Read: got %d bytes %.40q, want %d bytes %.40q", len(got), got, len(want), want)
	}
}

func wantReadError(ctx context.Context, t *testing.T, c transport.Conn, want error) {
	t.Helper()
	if got, err := c.Read(ctx); !errors.Is(err, want) {
		t.Fatalf("Read: got %d bytes and error %v, want error %v", len(got), err, want)
	}
}

func wantSent(t *testing.T, sent <-chan error) {
	t.Helper()
	if err := <-sent; err != nil {
		t.Fatalf("Write: %v", err)
	}
}

func order(t *testing.T, a, b transport.Conn) {
	ctx := testContext(t)
	var messages [][]byte
	for i := range 200 {
		messages = append(messages, fmt.Appendf(nil, `{"n":%d,"pad":"%s"}`, i, strings.Repeat("x", i*7)))
	}
	sent := send(ctx, a, messages...)
	for _, m := range messages {
		wantMessage(ctx, t, b, m)
	}
	wantSent(t, sent)
}

func sizes(t *testing.T, a, b transport.Conn) {
	ctx := testContext(t)
	largest := bytes.Repeat([]byte("a"), limits.MessageBytes)
	over := bytes.Repeat([]byte("b"), limits.MessageBytes+1)
	far := bytes.Repeat([]byte("c"), 2*limits.MessageBytes+17)
	sent := send(ctx, a, largest, over, []byte("still here"), far, largest)
	wantMessage(ctx, t, b, largest)
	wantReadError(ctx, t, b, transport.ErrTooLarge)
	wantMessage(ctx, t, b, []byte("still here"))
	wantReadError(ctx, t, b, transport.ErrTooLarge)
	wantMessage(ctx, t, b, largest)
	wantSent(t, sent)
}

func empty(t *testing.T, a, b transport.Conn) {
	ctx := testContext(t)
	sent := send(ctx, a, nil, []byte{}, []byte("x"))
	wantMessage(ctx, t, b, nil)
	wantMessage(ctx, t, b, nil)
	wantMessage(ctx, t, b, []byte("x"))
	wantSent(t, sent)
}

// text sends runes that lie across every boundary a carrier may cut at, and bytes that are no text.
func text(t *testing.T, a, b transport.Conn) {
	ctx := testContext(t)
	var runes [][]byte
	for pad := range 4 {
		runes = append(runes, []byte(strings.Repeat("x", pad)+strings.Repeat("🜂é", 4000)))
	}
	sent := send(ctx, a, runes...)
	for _, m := range runes {
		wantMessage(ctx, t, b, m)
	}
	wantSent(t, sent)
	sent = send(ctx, a, []byte("half a rune \xf0\x9f\x9c"), []byte("\x82 the other half"), []byte("fine"))
	wantReadError(ctx, t, b, transport.ErrNotText)
	wantReadError(ctx, t, b, transport.ErrNotText)
	wantMessage(ctx, t, b, []byte("fine"))
	wantSent(t, sent)
}

func copies(t *testing.T, a, b transport.Conn) {
	ctx := testContext(t)
	message := []byte("first")
	wantSent(t, send(ctx, a, message))
	copy(message, "XXXXX")
	got, err := b.Read(ctx)
	if err != nil || string(got) != "first" {
		t.Fatalf("Read: got %q and error %v, want %q as it was when written", got, err, "first")
	}
	wantSent(t, send(ctx, a, []byte("second")))
	wantMessage(ctx, t, b, []byte("second"))
	if string(got) != "first" {
		t.Errorf("message after the next Read: got %q, want %q", got, "first")
	}
}

func bothWays(t *testing.T, a, b transport.Conn) {
	ctx := testContext(t)
	const n = 300
	var all sync.WaitGroup
	for i, c := range []transport.Conn{a, b} {
		all.Go(func() {
			for k := range n {
				if err := c.Write(ctx, fmt.Appendf(nil, "%d:%d", i, k)); err != nil {
					t.Errorf("end %d: Write %d: %v", i, k, err)
					return
				}
			}
		})
		all.Go(func() {
			for k := range n {
				got, err := c.Read(ctx)
				if want := fmt.Sprintf("%d:%d", 1-i, k); err != nil || string(got) != want {
					t.Errorf("end %d: Read %d: got %q and error %v, want %q", i, k, got, err, want)
					return
				}
			}
		})
	}
	all.Wait()
}

func infoConstant(t *testing.T, a, _ transport.Conn) {
	before := a.Info()
	if before.Transport == "" || before.Remote == "" {
		t.Errorf("Info: got %+v, want a transport and a remote", before)
	}
	if err := a.Close(""); err != nil {
		t.Errorf("Close: %v", err)
	}
	if after := a.Info(); after != before {
		t.Errorf("Info after Close: got %+v, want %+v", after, before)
	}
}

func sentBeforeClose(t *testing.T, a, b transport.Conn) {
	ctx := testContext(t)
	wantSent(t, send(ctx, a, []byte("one"), []byte("two")))
	closed := make(chan error, 1)
	go func() { closed <- a.Close("bye") }()
	wantMessage(ctx, t, b, []byte("one"))
	wantMessage(ctx, t, b, []byte("two"))
	hangUp(ctx, t, a, b)
	if err := <-closed; err != nil {
		t.Errorf("Close: %v", err)
	}
}

func closeUnblocks(t *testing.T, a, b transport.Conn) {
	ctx := testContext(t)
	errs := make(chan error, 2)
	for _, c := range []transport.Conn{a, b} {
		go func() {
			_, err := c.Read(ctx)
			errs <- err
		}()
	}
	if err := a.Close("bye"); err != nil {
		t.Errorf("Close: %v", err)
	}
	for range 2 {
		if err := <-errs; !errors.Is(err, transport.ErrClosed) {
			t.Errorf("Read during Close: got error %v, want %v", err, transport.ErrClosed)
		}
	}
	for _, c := range []transport.Conn{a, b} {
		wantReadError(ctx, t, c, transport.ErrClosed)
		if err := c.Write(ctx, []byte("late")); !errors.Is(err, transport.ErrClosed) {
			t.Errorf("Write after Close: got error %v, want %v", err, transport.ErrClosed)
		}
	}
}

func closeTogether(t *testing.T, a, b transport.Conn) {
	ctx := testContext(t)
	var all sync.WaitGroup
	for _, c := range []transport.Conn{a, b, a, b} {
		all.Go(func() {
			if err := c.Close("both"); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	all.Wait()
	wantReadError(ctx, t, a, transport.ErrClosed)
	wantReadError(ctx, t, b, transport.ErrClosed)
}

func closeTwice(t *testing.T, a, b transport.Conn) {
	start := time.Now()
	for i := range 3 {
		if err := a.Close("again"); err != nil {
			t.Errorf("Close %d: %v", i, err)
		}
	}
	// b does not read, so it gives a no goodbye: Close must not wait for one for long.
	if took, most := time.Since(start), limits.ConnCloseTimeout+patience/4; took > most {
		t.Errorf("Close took %v, want at most %v", took, most)
	}
	wantReadError(testContext(t), t, b, transport.ErrClosed)
	if err := b.Close("after the peer"); err != nil {
		t.Errorf("Close after the peer: %v", err)
	}
}

func reason(t *testing.T, a, b transport.Conn) {
	ctx := testContext(t)
	closed := make(chan error, 1)
	go func() { closed <- a.Close("token revoked " + strings.Repeat("é", 200)) }()
	_, err := b.Read(ctx)
	if !errors.Is(err, transport.ErrClosed) || !strings.Contains(err.Error(), "token revoked") || !utf8.ValidString(err.Error()) {
		t.Errorf("Read: got error %q, want %v with the reason, cut between runes", err, transport.ErrClosed)
	}
	if err := <-closed; err != nil {
		t.Errorf("Close: %v", err)
	}
}

// stalledWrite fills the connection to a peer that does not read. Nothing but Close ends the Write in time.
func stalledWrite(t *testing.T, a, _ transport.Conn) {
	ctx := testContext(t)
	sent := make(chan error, 1)
	progress := make(chan struct{}, 1)
	go func() {
		for big := bytes.Repeat([]byte("w"), limits.MessageBytes); ; {
			if err := a.Write(ctx, big); err != nil {
				sent <- err
				return
			}
			select {
			case progress <- struct{}{}:
			default:
			}
		}
	}()
	waitStalled(t, progress)
	if err := a.Close("enough"); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := <-sent; !errors.Is(err, transport.ErrClosed) {
		t.Errorf("Write: got error %v, want %v", err, transport.ErrClosed)
	}
}

// waitStalled returns when nothing was written for a while.
func waitStalled(t *testing.T, progress <-chan struct{}) {
	t.Helper()
	quiet := time.NewTimer(time.Second / 4)
	defer quiet.Stop()
	for {
		select {
		case <-progress:
			quiet.Reset(time.Second / 4)
		case <-quiet.C:
			return
		}
	}
}

func cancelledRead(t *testing.T, a, b transport.Conn) {
	ctx, cancel := context.WithCancel(t.Context())
	read := make(chan error, 1)
	go func() {
		_, err := a.Read(ctx)
		read <- err
	}()
	cancel()
	if err := <-read; !errors.Is(err, context.Canceled) {
		t.Errorf("Read: got error %v, want %v", err, context.Canceled)
	}
	if err := a.Close("gave up"); err != nil {
		t.Errorf("Close: %v", err)
	}
	wantReadError(testContext(t), t, b, transport.ErrClosed)
}

func cancelledWrite(t *testing.T, a, _ transport.Conn) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sent := make(chan error, 1)
	progress := make(chan struct{}, 1)
	go func() {
		for big := bytes.Repeat([]byte("w"), limits.MessageBytes); ; {
			if err := a.Write(ctx, big); err != nil {
				sent <- err
				return
			}
			select {
			case progress <- struct{}{}:
			default:
			}
		}
	}()
	waitStalled(t, progress)
	cancel()
	if err := <-sent; !errors.Is(err, context.Canceled) {
		t.Errorf("Write: got error %v, want %v", err, context.Canceled)
	}
}

// hangUp closes a while b reads.
func hangUp(ctx context.Context, t *testing.T, a, b transport.Conn) {
	t.Helper()
	closed := make(chan error, 1)
	go func() { closed <- a.Close("") }()
	wantReadError(ctx, t, b, transport.ErrClosed)
	if err := <-closed; err != nil {
		t.Errorf("Close: %v", err)
	}
}

// nothingLeft opens, uses and closes connections in every way, and counts what remains of them.
func nothingLeft(t *testing.T, factory Factory) {
	goroutines, files := runtime.NumGoroutine(), OpenFiles(t)
	t.Run("use", func(t *testing.T) {
		for i := range 12 {
			a, b := factory(t)
			ctx, cancel := context.WithCancel(t.Context())
			sent := send(ctx, a, []byte("hello"))
			wantMessage(ctx, t, b, []byte("hello"))
			wantSent(t, sent)
			switch i % 4 {
			case 0:
				hangUp(ctx, t, a, b)
			case 1:
				hangUp(ctx, t, b, a)
			case 2:
				closeTogether(t, a, b)
			case 3: // the factory closes
			}
			cancel()
		}
	})
	Eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= goroutines })
	Eventually(t, "no descriptor is left", func() bool { return OpenFiles(t) <= files })
}

// OpenFiles counts the process's open descriptors, 0 where the system does not say.
func OpenFiles(t *testing.T) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatalf("count descriptors: %v", err)
	}
	return len(entries)
}

// Eventually waits until the fact holds and fails the test when it does not come true.
func Eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline.C:
			stacks := make([]byte, 1<<20)
			t.Fatalf("not in %v: %s\n%s", patience, what, stacks[:runtime.Stack(stacks, true)])
		}
	}
}
