package core

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/protocol"
)

// hungLink is a peer that sends what it is given and reads nothing.
type hungLink struct {
	in     chan string
	closed chan string
}

func (l *hungLink) Read(ctx context.Context) ([]byte, error) {
	select {
	case m := <-l.in:
		return []byte(m), nil
	case <-l.closed:
		return nil, errors.New("closed")
	}
}

func (l *hungLink) Write(ctx context.Context, _ []byte) error { <-ctx.Done(); return ctx.Err() }
func (l *hungLink) Close(string) error                        { close(l.closed); return nil }

func TestSlowReader(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		serve := func() (*hungLink, chan error) {
			l, ended := &hungLink{in: make(chan string), closed: make(chan string)}, make(chan error, 1)
			go func() { ended <- r.core.Serve(context.Background(), l, Peer{Credential: r.bot}) }()
			return l, ended
		}
		// One that takes nothing for too long.
		l, ended := serve()
		start := time.Now()
		l.in <- `{"type":"ping"}`
		if err := <-ended; !strings.Contains(fmt.Sprint(err), "write") || time.Since(start) != limits.ConnWriteTimeout {
			t.Errorf("peer that reads nothing: got %v after %v, want it cut after %v", err, time.Since(start), limits.ConnWriteTimeout)
		}
		// One whose results pile up meanwhile.
		l, ended = serve()
		start = time.Now()
		sent := 0
		for done := false; !done; {
			select {
			case l.in <- `{"code":"ok"}`:
				sent++
				synctest.Wait()
			case err := <-ended:
				done = true
				if !strings.Contains(err.Error(), "not read") {
					t.Errorf("results that pile up: got %v, want the connection cut", err)
				}
			}
		}
		if sent > limits.ConnWriteQueue+3 || time.Since(start) > limits.ConnCloseTimeout {
			t.Errorf("got %d results taken in %v, want no more than about %d and a quick end", sent, time.Since(start), limits.ConnWriteQueue)
		}
		// Subscriptions that were never answered leave nothing behind.
		l, ended = serve()
		synctest.Wait()
		for i := range limits.ConnWriteQueue / 2 {
			select {
			case l.in <- `{"type":"subscribe"}`:
			default:
				t.Fatalf("subscription %d was not taken", i)
			}
			synctest.Wait()
		}
		<-ended
		if n := r.events.Readers(); n != 0 {
			t.Errorf("got %d readers left of a client that is gone, want none", n)
		}
		// Asking and not reading only slows down who does it: half the queue is kept for results.
		l, ended = serve()
		synctest.Wait()
		for i := range limits.ConnWriteQueue/2 + 2 {
			select {
			case l.in <- `{"type":"ping"}`:
			default:
				t.Fatalf("ping %d was not taken", i)
			}
			synctest.Wait()
		}
		select {
		case l.in <- `{"type":"ping"}`:
			t.Error("a ping more than the queue has room for was taken")
		default:
		}
		if err := <-ended; !strings.Contains(err.Error(), "write") {
			t.Errorf("got %v, want the peer cut for reading nothing", err)
		}
	})
}

// A client that reads slowly and asks for much gets every answer.
func TestPatientReader(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		c := r.dial(r.bot)
		h := r.hold("hold")
		c.exec("first", "hold")
		<-h.running
		for i := range limits.RequestsPerConn {
			c.exec(fmt.Sprint(i), "ok")
		}
		const pings = 3 * limits.ConnWriteQueue
		go func() {
			for range pings {
				c.send(`{"type":"ping"}`)
			}
		}()
		synctest.Wait()
		close(h.release)
		results, pongs := 0, 0
		for results < limits.RequestsPerConn+1 || pongs < pings {
			pass(limits.ConnWriteTimeout / 100)
			switch c.read().(type) {
			case *protocol.Result:
				results++
			case *protocol.Pong:
				pongs++
			}
		}
	})
}

func TestBadMessages(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		c := r.dial(r.bot)
		for _, test := range []struct {
			message string
			want    protocol.Code
		}{
			{``, protocol.CodeBadJSON},
			{`{`, protocol.CodeBadJSON},
			{"\xff", protocol.CodeBadJSON},
			{`{"type":"ping","TYPE":"stop"}`, protocol.CodeBadJSON},
			{`{"type":"nonsense"}`, protocol.CodeBadRequest},
			{`{"version":"2","type":"ping"}`, protocol.CodeUnsupportedVersion},
			{`{"code":"` + strings.Repeat("x", limits.MessageBytes) + `"}`, protocol.CodeTooLarge},
			{`{"code":"` + strings.Repeat("x", limits.CodeBytes+1) + `"}`, protocol.CodeTooLarge},
		} {
			c.send(test.message)
			if res, ok := c.read().(*protocol.Result); !ok || !res.Error || res.Code != test.want {
				t.Errorf("%.40q: got %+v, want %q", test.message, res, test.want)
			}
		}
		c.exec("1", "ok") // and goes on
		c.wantCode("1", "")
	})
}

func TestSubscribe(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		c := r.dial(r.bot)
		zero := uint64(0)
		c.request("subscribe", "1", &protocol.Subscribe{Events: []string{"boot", "estop"}, Since: &zero})
		if ack := c.ack("1"); ack.Seq != 1 {
			t.Errorf("ack: got seq %d, want that of boot", ack.Seq)
		}
		boot, ok := c.read().(*protocol.Event)
		if !ok || boot.Event != "boot" || *boot.ID != "evt_1" || !strings.Contains(string(boot.Data), `"pins":[`) {
			t.Errorf("got %+v, want boot with its pins", boot)
		}
		r.core.Notice(MachineAgent, hw.Notice{Kind: hw.NoticeWarning}) // not asked for
		r.core.Stop("somebody", "why")
		if ev := c.read().(*protocol.Event); ev.Event != "estop" || ev.Dropped != 0 {
			t.Errorf("got %+v, want estop", ev)
		}
		r.events.Pin(pin.Event{Kind: pin.EventTrip, Pin: "1", Name: "TEMP", Level: 1, Value: 3, Cause: "trip", Text: "hot"})
		r.events.Pin(pin.Event{Kind: pin.EventOutputSafe, Cause: pin.CauseStart})
		c.request("subscribe", "2", &protocol.Subscribe{})
		c.ack("2")
		r.press("BUTTON") // nobody watches it
		r.core.Stop("somebody", "again")
		if ev := c.read().(*protocol.Event); ev.Event != "estop" {
			t.Errorf("got %+v, want only what came since", ev)
		}
		c.request("unsubscribe", "3", &protocol.Subscribe{})
		c.ack("3")
		r.core.Stop("somebody", "once more")
		c.request("ping", "4", nil)
		if _, ok := c.read().(*protocol.Pong); !ok {
			t.Error("unsubscribed: got an event")
		}
		wantStrings(t, "trip", r.seen("trip"), `{"cause":"trip","name":"TEMP","pin":"1","reading":3,"text":"hot","value":1}`)
		c.leave()
		if n := r.events.Readers(); n != 0 {
			t.Errorf("got %d readers left, want none", n)
		}
	})
}
