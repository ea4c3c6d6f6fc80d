package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

func (f *fake) output(r *protocol.Request, seq int, data string) {
	f.say(&protocol.Output{Header: protocol.NewHeader(r.ID, protocol.AnswerOutput), Stream: "stdout", Data: data, Seq: seq})
}

// TestExecStream: all output arrives, in order, before the result is returned.
func TestExecStream(t *testing.T) {
	c, f := overPipe(t, func(f *fake, r *protocol.Request) {
		for i := range 100 {
			f.output(r, i, fmt.Sprint(i, " "))
		}
		f.say(result(r, "all"))
	})
	var got strings.Builder
	res, err := c.ExecStream(t.Context(), protocol.Exec{Code: "x"}, func(o *protocol.Output) { got.WriteString(o.Data) })
	if err != nil || res.Stdout != "all" || res.DroppedBytes != 0 {
		t.Fatalf("ExecStream: got %+v and error %v, want the result and nothing dropped", res, err)
	}
	var want strings.Builder
	for i := range 100 {
		fmt.Fprint(&want, i, " ")
	}
	if diff := cmp.Diff(want.String(), got.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	if !f.requests(protocol.TypeExec)[0].Body.(*protocol.Exec).Stream {
		t.Error("the exec did not ask for a stream")
	}
}

// TestExecStreamSlow: a reader of output that is too slow holds up nobody, and is told how much it missed.
func TestExecStreamSlow(t *testing.T) {
	const over = 10
	c, _ := overPipe(t, func(f *fake, r *protocol.Request) {
		if r.Type != protocol.TypeExec {
			polite(f, r)
			return
		}
		for i := range 1 + limits.ObserverQueue + over {
			f.output(r, i, "abc")
		}
		f.say(result(r, ""))
	})
	pieces := 0
	res, err := c.ExecStream(t.Context(), protocol.Exec{Code: "x"}, func(*protocol.Output) {
		if pieces == 0 { // answered only after everything before it was read
			if err := c.Ping(t.Context()); err != nil {
				t.Errorf("Ping while output waits: %v", err)
			}
		}
		pieces++
	})
	if err != nil {
		t.Fatalf("ExecStream: %v", err)
	}
	if sent, got := 3*(1+limits.ObserverQueue+over), 3*pieces+res.DroppedBytes; got != sent || res.DroppedBytes < 3*over {
		t.Errorf("got %d bytes and %d dropped, want %d together and at least %d dropped", 3*pieces, res.DroppedBytes, sent, 3*over)
	}
}

// TestSecondAnswer: a terminal that answers twice stops nobody, however late the first answer is picked up.
func TestSecondAnswer(t *testing.T) {
	c, _ := overPipe(t, func(f *fake, r *protocol.Request) {
		if r.Type != protocol.TypeExec {
			polite(f, r)
			return
		}
		f.output(r, 0, "x")
		f.say(result(r, "first"))
		f.say(result(r, "second"))
	})
	res, err := c.ExecStream(t.Context(), protocol.Exec{Code: "x"}, func(*protocol.Output) {
		if err := c.Ping(t.Context()); err != nil {
			t.Errorf("Ping: %v", err)
		}
	})
	if err != nil || res.Stdout != "first" {
		t.Errorf("ExecStream: got %+v and error %v, want the first result", res, err)
	}
}

// TestExecCancelled: giving up interrupts the exec, and what the terminal then says is what happened.
func TestExecCancelled(t *testing.T) {
	started := make(chan struct{})
	var exec *protocol.Request
	c, f := overPipe(t, func(f *fake, r *protocol.Request) {
		switch r.Type {
		case protocol.TypeExec:
			exec = r
			close(started)
		case protocol.TypeInterrupt:
			f.ack(r)
			f.output(exec, 0, "KeyboardInterrupt")
			res := result(exec, "half")
			res.Error, res.Code = true, protocol.CodeInterrupted
			f.say(res)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-started
		cancel()
	}()
	var output string
	res, err := c.ExecStream(ctx, protocol.Exec{Code: "while True: pass"}, func(o *protocol.Output) { output += o.Data })
	if err != nil || res.Code != protocol.CodeInterrupted || res.Stdout != "half" || output != "KeyboardInterrupt" {
		t.Errorf("Exec: got %+v, output %q and error %v, want the interrupted result", res, output, err)
	}
	want := &protocol.Target{Target: *exec.ID}
	if diff := cmp.Diff(want, f.requests(protocol.TypeInterrupt)[0].Body); diff != "" {
		t.Errorf("interrupt (-want +got):\n%s", diff)
	}
}

// TestExecCancelledWithoutAnswer: a terminal that does not react is waited for briefly.
func TestExecCancelledWithoutAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, f := overPipe(t, func(*fake, *protocol.Request) {})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		_, err := c.Exec(ctx, protocol.Exec{Code: "x"})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Exec: got %v, want %v", err, context.DeadlineExceeded)
		}
		if took, want := time.Since(start), time.Minute+limits.InterruptWait; took != want {
			t.Errorf("Exec took %v, want %v", took, want)
		}
		if got := len(f.requests(protocol.TypeInterrupt)); got != 1 {
			t.Errorf("interrupts: got %d, want 1", got)
		}
	})
}

// TestExecDetached: code that was sent to run on its own is not interrupted when its sender leaves.
func TestExecDetached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, f := overPipe(t, func(*fake, *protocol.Request) {})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		if _, err := c.Exec(ctx, protocol.Exec{Code: "x", Detach: true}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Exec: got %v, want %v", err, context.DeadlineExceeded)
		}
		if took := time.Since(start); took != time.Minute {
			t.Errorf("Exec took %v, want %v", took, time.Minute)
		}
		synctest.Wait()
		if got := len(f.requests(protocol.TypeInterrupt)); got != 0 {
			t.Errorf("interrupts: got %d, want none", got)
		}
	})
}

// TestStalledTerminal: a terminal that reads nothing ends the connection after the write timeout; nobody waits for ever.
func TestStalledTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		c, _ := overPipe(t, func(*fake, *protocol.Request) { <-release })
		errs := make(chan error)
		const n = limits.PipeQueue + 4
		for range n {
			go func() { errs <- c.Ping(t.Context()) }()
		}
		start := time.Now()
		for range n {
			if err := <-errs; err == nil {
				t.Error("Ping: got an answer, want an error")
			}
		}
		if took, most := time.Since(start), limits.ConnWriteTimeout+limits.ConnCloseTimeout; took > most {
			t.Errorf("it took %v, want at most %v", took, most)
		}
	})
}
