//go:build linux

package vm_test

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/vm/frame"
)

// script is what a machine sends for a whole job, and where each record ends.
func script(seq uint32) (bytes []byte, ends []int) {
	for _, rec := range []any{
		frame.Output{Seq: seq, Stream: hw.Stdout, Data: []byte("pal\n")},
		&frame.Call{Seq: seq, Call: hw.Call{Op: hw.OpPinWrite, Pin: 3, A: 1}},
		frame.Heartbeat{},
		frame.Done{Seq: seq, Outcome: hw.Outcome{Fuel: 11}},
	} {
		var err error
		if bytes, err = frame.Append(bytes, rec); err != nil {
			panic(err)
		}
		ends = append(ends, len(bytes))
	}
	return bytes, ends
}

// misdeeds are ways to break the rules of the channel; each costs the machine its life.
var misdeeds = map[string]func(j *fakeJob){
	"call-of-another-job":   func(j *fakeJob) { j.send(&frame.Call{Seq: j.seq + 1}) },
	"output-of-another-job": func(j *fakeJob) { j.send(frame.Output{Seq: j.seq - 1, Stream: hw.Stdout, Data: []byte("x")}) },
	"end-of-another-job":    func(j *fakeJob) { j.send(frame.Done{Seq: j.seq + 7}) },
	"second-ready":          func(j *fakeJob) { j.send(frame.Ready{}) },
	"guards-record":         func(j *fakeJob) { j.send(frame.Interrupt{Seq: j.seq}) },
	"unknown-stream":        func(j *fakeJob) { j.send(frame.Output{Seq: j.seq, Stream: 3, Data: []byte("x")}) },
	"no-stream":             func(j *fakeJob) { j.send(frame.Output{Seq: j.seq, Data: []byte("x")}) },
	"too-much-output": func(j *fakeJob) {
		j.send(frame.Output{Seq: j.seq, Stream: hw.Stdout, Data: make([]byte, j.job.MaxOutput+1)})
	},
	"endless-output": func(j *fakeJob) {
		for {
			j.send(frame.Output{Seq: j.seq, Stream: hw.Stderr, Data: []byte("spam and ham")})
		}
	},
	"huge-length":  func(j *fakeJob) { j.raw([]byte{0xff, 0xff, 0xff, 0xff}) },
	"zero-length":  func(j *fakeJob) { j.raw([]byte{0, 0, 0, 0}) },
	"unknown-type": func(j *fakeJob) { j.raw([]byte{1, 0, 0, 0, 99}) },
	"long-string": func(j *fakeJob) { // an output whose inner length promises more than there is
		j.raw([]byte{10, 0, 0, 0, byte(frame.TypeOutput), byte(j.seq), 0, 0, 0, 1, 0xff, 0xff, 0xff, 0x7f})
	},
	"trailing-bytes": func(j *fakeJob) {
		j.raw([]byte{2, 0, 0, 0, byte(frame.TypeHeartbeat), 0})
	},
	"cursor-goes-back": func(j *fakeJob) {
		j.call(hw.Call{Op: hw.OpPinRead})
		j.conn.setWord(tailUp, 1)
		j.conn.ring()
	},
	"cursor-far-ahead": func(j *fakeJob) { j.conn.setWord(tailUp, 1<<40); j.conn.ring() },
	"reader-cursor-too-far": func(j *fakeJob) {
		for {
			j.conn.setWord(headDown, 1<<40)
			j.send(&frame.Call{Seq: j.seq})
		}
	},
	"wake-ups-for-nothing": func(j *fakeJob) {
		for {
			j.conn.ring()
		}
	},
	"end-over-refusal": func(j *fakeJob) {
		j.post(hw.Call{Op: hw.OpPinWrite, Pin: refusedPin})
		j.send(frame.Done{Seq: j.seq})
	},
	"posted-read": func(j *fakeJob) { j.send(&frame.Call{Seq: j.seq, Call: hw.Call{Op: hw.OpPinRead, Posted: true}}) },
	"heartbeat-flood": func(j *fakeJob) {
		for {
			j.send(frame.Heartbeat{})
		}
	},
}

// afterMisdeeds come right behind a good end: they hit an idle machine.
var afterMisdeeds = map[string]func(j *fakeJob) any{
	"second-end":  func(j *fakeJob) any { return frame.Done{Seq: j.seq} },
	"late-call":   func(j *fakeJob) any { return &frame.Call{Seq: j.seq} },
	"late-output": func(j *fakeJob) any { return frame.Output{Seq: j.seq, Stream: hw.Stdout, Data: []byte("x")} },
}

// refusedPin is a handle that the sink of TestMisdeeds refuses.
const refusedPin = 99

func (j *fakeJob) misbehave(name string) {
	if do, ok := misdeeds[name]; ok {
		do(j)
	} else if rec, ok := afterMisdeeds[name]; ok {
		j.send(frame.Done{Seq: j.seq}, rec(j))
	} else {
		switch name {
		case "unread-replies": // calls without end, and the answers stay where they are
			for {
				j.send(&frame.Call{Seq: j.seq})
			}
		case "close-channel":
			if err := unix.Shutdown(3, unix.SHUT_WR); err != nil {
				panic(err)
			}
		case "scribble": // over everything that is shared, while it also speaks
			go func() {
				for b := byte(1); ; b += 7 {
					for i := range j.conn.mem {
						j.conn.mem[i] = b + byte(i)
					}
				}
			}()
			for {
				j.send(&frame.Call{Seq: j.seq})
			}
		case "exit":
			fmt.Fprintln(os.Stderr, "last words")
			os.Exit(9)
		case "panic":
			go panic("the engine fell over")
		}
	}
	select {}
}
