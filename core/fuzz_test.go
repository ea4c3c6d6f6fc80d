package core

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/board"
	wire "github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/protocol"
)

// wild makes hardware calls of a program's text: a hostile machine.
func wild(g *guest) *hw.Exception {
	text := g.job.Code
	for len(text) >= 4 {
		g.sink.Call(g.ctx, hw.Call{
			Op: hw.Op(text[0] % 16), Pin: uint16(text[1]), A: int64(int8(text[2])), B: int64(text[3] % 4), C: int64(int8(text[3])),
			Text: text[1:min(len(text), 1+int(text[3]%8))], Data: []byte(text[4:]),
		})
		g.sink.Output(hw.Stream(1+text[0]%2), []byte(text[:text[2]%4]))
		text = text[4:]
	}
	if len(text) > 0 {
		g.out.Refusal, g.out.Value = uint32(text[0]), []byte(text)
		return &hw.Exception{Class: text, Message: text, Line: -1}
	}
	return nil
}

// systemPins is what must never change.
func (r *rig) systemPins() string {
	var b strings.Builder
	for i, s := range r.table.Snapshot() {
		if r.desc.Pins[i].Owner == board.OwnerSystem {
			level, err := r.sim.Get(i)
			check(r.t, err)
			b.WriteString(s.ID + string(rune('0'+s.Mode)) + string(rune('0'+level)) + s.LastDriver + " ")
		}
	}
	return b.String()
}

// FuzzHandle sends lines as messages of a person who may do everything: whatever they are, each is answered by one message
// unless the connection ends, nothing panics, nothing is left running and no system pin changes.
func FuzzHandle(f *testing.F) {
	var all []string
	for _, req := range everything {
		f.Add(req.message)
		all = append(all, req.message)
	}
	f.Add(strings.Join(all, "\n"))
	f.Add(`{"id":"1","code":"ok"}` + "\n" + `{"id":"1","code":"ok"}` + "\n" + `{"id":"1","code":"other"}`)
	f.Add(`{"code":"\u0001\u0000\u0002\u0001\u0004\u0000\u0001\u0000zzzz","stream":true,"detach":true,"eval":true,"session":"new"}`)
	f.Add(`{"type":"token","op":"create","name":"n","class":"agent","scopes":["read"]}` + "\n" + `{"type":"token","op":"revoke","name":"local-human"}` + "\n" + `{"type":"ping"}`)
	f.Add(`{"type":"conn","op":"kick","conn":1}` + "\n" + `{"type":"ping"}`)
	f.Add("\xff\n\n{}\n[]\nnull\n" + `{"id":7}`)
	f.Fuzz(func(t *testing.T, text string) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, options{})
			r.agent.wild = wild
			before := r.systemPins()
			c := r.dial(r.human)
			for i, line := range strings.Split(text, "\n") {
				if i == 50 || !r.answersOnce(c, line) {
					break
				}
			}
			if after := r.systemPins(); after != before {
				t.Errorf("system pins: got %s, had %s", after, before)
			}
		})
	})
}

// answersOnce sends a message and counts its answers. It reports false when the connection ended.
func (r *rig) answersOnce(c *client, line string) bool {
	r.t.Helper()
	if c.conn.Write(context.Background(), []byte(line)) != nil {
		return false
	}
	answers := 0
	for {
		ctx, done := context.WithTimeout(context.Background(), time.Millisecond) // of the bubble: everything has come to rest by then
		m, err := c.conn.Read(ctx)
		late := ctx.Err() != nil
		done()
		switch {
		case late:
			if answers != 1 {
				r.t.Errorf("message %q: got %d answers, want one", line, answers)
			}
			return true
		case err != nil:
			return false
		}
		a, err := wire.DecodeAnswer(m)
		if err != nil {
			r.t.Errorf("message %q: answer %s: %v", line, m, err)
		}
		switch a.(type) {
		case *protocol.Event, *protocol.Output:
		default:
			answers++
		}
	}
}
