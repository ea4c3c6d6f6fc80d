package core

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/pal-terminal/pal/answers"
	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/desk"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/ledger"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/printed"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/toolset"
)

// POSIX error numbers of replies that are no refusal by the pin table.
const (
	errnoPERM  = 1
	errnoIO    = 5
	errnoNOMEM = 12
	errnoACCES = 13
	errnoINVAL = 22
	errnoNOSPC = 28
)

// sink is the guard's side of one running job: every hardware call of guest code passes through Call. It is used by the
// executor's goroutine alone, as hw.Sink says; a board function runs nested in the call that asked for it.
type sink struct {
	c       *Core
	caller  pin.Caller
	job     *job  // nil for set-up and handlers
	parent  *sink // of a board function: the sink of the code that called it
	session string
	start   time.Time
	limit   int // bytes kept of each stream

	epoch uint64      // of the e-stop when the work was asked for: it drives nothing in a later one
	work  ledger.Work // its intent, which is on the disk before the first drive
	sure  bool        // it is
	lazy  bool        // there is none: the work was armed or registered by a request that had one

	effects  []protocol.Effect
	count    int // effects, kept or not
	refusals int
	refused  *pin.Refusal // the last one
	number   uint32       // its number

	text printed.Text
	seq  int // of streamed parts
}

func newSink(c *Core, j *job, start time.Time) *sink {
	s := &sink{c: c, job: j, start: start, session: j.key, limit: limits.OutputDefault, epoch: j.epoch}
	if j.exec.MaxOutput != nil {
		s.limit = int(*j.exec.MaxOutput)
	}
	s.text.Limit = s.limit
	if j.exec.Stream {
		s.text.Stream = s.stream
	}
	s.caller = callerOf(j.who, j.conn)
	s.caller.Run, s.caller.Machine, s.caller.Code = j.run, MachineAgent, j.code
	return s
}

var _ hw.Sink = (*sink)(nil)

// Call performs or refuses one hardware call.
func (s *sink) Call(ctx context.Context, call hw.Call) hw.Reply {
	defer s.c.faulted()
	t, h := s.c.cfg.Table, pin.Handle(call.Pin)
	if err := s.barred(ctx, call); err != nil {
		return s.reply(0, err)
	}
	switch call.Op {
	case hw.OpPinOpen, hw.OpADCOpen:
		return s.open(call)
	case hw.OpPinMode:
		e, err := t.Configure(s.caller, h, hw.Mode(clampByte(call.A)), hw.Pull(clampByte(call.B)), int(max(-2, min(call.C, 2))))
		if err == nil && e != nil {
			s.effect(*e)
		}
		return s.posting(h, s.reply(0, err))
	case hw.OpPinRead:
		v, err := t.Read(s.caller, h)
		return s.reply(int64(v), err)
	case hw.OpPinWrite:
		e, err := t.Write(s.caller, h, int(clampByte(call.A)))
		return s.posting(h, s.driven(e, err))
	case hw.OpPinToggle:
		e, err := t.Toggle(s.caller, h)
		return s.posting(h, s.driven(e, err))
	case hw.OpPinIRQ, hw.OpTimer, hw.OpUARTIRQ:
		return s.reply(0, s.c.arm(s, call))
	case hw.OpADCRead:
		raw, uv, err := t.ReadADC(s.caller, h)
		r := s.reply(int64(raw), err)
		r.Extra = uv
		return r
	case hw.OpPWM, hw.OpPulse, hw.OpBitstream, hw.OpDHT, hw.OpOneWire, hw.OpBusOpen, hw.OpBusClose, hw.OpI2C, hw.OpI2CScan, hw.OpSPI,
		hw.OpUARTWrite, hw.OpUARTRead, hw.OpUARTAny, hw.OpCountOpen, hw.OpCount, hw.OpNetwork:
		return s.bus(ctx, call)
	case hw.OpFile:
		return s.file(call)
	case hw.OpFlush: // the executor holds back what follows a posted call that failed, so there is nothing left to tell
		return hw.Reply{}
	case hw.OpTool:
		return s.tool(call.Text)
	case hw.OpEvent:
		return s.event(call)
	case hw.OpBoardCall:
		return s.c.callBoard(ctx, s, call.Text, call.Data)
	case hw.OpRefuse:
		return s.reply(0, &pin.Refusal{
			Errno: errnoACCES, Code: string(protocol.CodeDenied), Rule: "guard.owned", Resource: desk.Clean(call.Text, limits.NameBytes),
			Message: desk.Clean(call.Text, limits.NameBytes) + " belongs to the guard",
		})
	}
	return hw.Reply{Errno: errnoINVAL, Text: fmt.Sprintf("unknown hardware call %d", call.Op)}
}

// barred refuses what may move something while it must not: work of before a release of the e-stop, and what cannot be recorded.
func (s *sink) barred(ctx context.Context, call hw.Call) error {
	if !moves(call) {
		return nil
	}
	root := s
	for root.parent != nil {
		root = root.parent
	}
	if now := s.c.cfg.Table.Epoch(); now != root.epoch && now&1 == 0 { // while the latch is set the table refuses, in its own words
		return &pin.Refusal{
			Errno: errnoPERM, Code: string(protocol.CodeEstopped), Rule: "estop.before", Resource: "estop",
			Message: "this began before the e-stop was released, which nothing of before outlives: run it again",
		}
	}
	var err *protocol.Error
	switch {
	case !root.sure && !root.lazy:
		err = root.work.Durable(ctx)
		root.sure = err == nil
	case root.lazy && s.highDanger(call):
		err = s.c.cfg.Ledger.Sync(ctx)
	default:
		err = s.c.cfg.Ledger.Ready()
	}
	if err == nil {
		return nil
	}
	return &pin.Refusal{Errno: errnoNOSPC, Code: string(err.Code), Rule: err.Rule, Message: err.Message}
}

// moves reports whether a call may move something: whatever is not known to look only.
func moves(call hw.Call) bool {
	switch call.Op {
	case hw.OpPinOpen, hw.OpPinRead, hw.OpADCOpen, hw.OpADCRead, hw.OpPulse, hw.OpI2CScan, hw.OpUARTRead, hw.OpUARTAny, hw.OpCountOpen, hw.OpCount,
		hw.OpBusClose, hw.OpPinIRQ, hw.OpUARTIRQ, hw.OpTimer, hw.OpEvent, hw.OpRefuse, hw.OpFlush, hw.OpFile, hw.OpTool, hw.OpNetwork,
		hw.OpBoardCall: // whose calls come here themselves
		return false
	case hw.OpPinMode:
		mode := hw.Mode(clampByte(call.A))
		return mode != hw.ModeIn && mode != hw.ModeAnalog || call.B != int64(hw.PullNone)
	default:
		return true
	}
}

// highDanger reports whether a call is about an output of high danger.
func (s *sink) highDanger(call hw.Call) bool {
	switch call.Op {
	case hw.OpBusOpen, hw.OpI2C, hw.OpSPI, hw.OpUARTWrite:
		return false
	default:
		pins := s.c.cfg.Board.Pins
		return int(call.Pin) < len(pins) && pins[call.Pin].Danger == board.DangerHigh
	}
}

// clampByte keeps a guest's number from wrapping into a valid small one, also where an int has 32 bits.
func clampByte(v int64) uint8 {
	if v < 0 || v > 255 {
		return 255
	}
	return uint8(v)
}

func (s *sink) open(call hw.Call) hw.Reply {
	h, err := s.c.cfg.Table.Resolve(call.Text)
	if err == nil && call.Op == hw.OpADCOpen {
		err = s.c.cfg.Table.CheckADC(s.caller, h)
	}
	return s.posting(h, s.reply(int64(h), err))
}

// posting says in an answer about a pin whether writes to it may be posted.
func (s *sink) posting(h pin.Handle, r hw.Reply) hw.Reply {
	if r.Errno == 0 && s.c.cfg.Table.Posts(s.caller, h) {
		r.Extra = hw.PostAllowed
	}
	return r
}

func (s *sink) driven(e pin.Effect, err error) hw.Reply {
	if err != nil {
		return s.reply(0, err)
	}
	s.effect(e)
	return hw.Reply{Value: int64(e.To)}
}

// tool offers a function of the running program as a tool of its session.
func (s *sink) tool(name string) hw.Reply {
	if s.job == nil || s.parent != nil {
		return hw.Reply{Errno: errnoACCES, Text: "only a running program offers tools"}
	}
	err := s.c.tools.Load().Offer(toolset.Owner{Actor: s.caller.Name, Session: s.job.session, Key: s.job.key}, name, []byte(s.job.exec.Code))
	if err != nil {
		return s.reply(0, &pin.Refusal{Errno: errnoACCES, Code: string(err.Code), Rule: err.Rule, Resource: desk.Clean(name, limits.NameBytes), Message: err.Message})
	}
	return hw.Reply{}
}

// bus hands a call to the guard of the buses.
func (s *sink) bus(ctx context.Context, call hw.Call) hw.Reply {
	r, e, err := s.c.cfg.Bus.Call(ctx, s.caller, call)
	if e != nil {
		s.effect(*e)
	}
	if err != nil {
		return s.reply(0, err)
	}
	return r
}

// file reaches the files of programs. In engineering mode board.py alone may drive, so that its machine imports nothing that a
// program may have written.
func (s *sink) file(call hw.Call) hw.Reply {
	if s.caller.Machine == MachineBoard && call.A == hw.FileRead && strings.HasSuffix(call.Text, ".py") {
		return hw.Reply{Errno: errnoACCES, Text: "in engineering mode board.py runs no code from /flash [rule: flash.rights]"}
	}
	return s.c.cfg.Flash.Call(desk.Rights(s.caller), call)
}

// effect keeps a change of an output; the nested sink of a board function hands it on to the code that called it.
func (s *sink) effect(e pin.Effect) {
	if s.parent != nil {
		s.parent.effect(e)
		return
	}
	if !e.Changed() {
		return
	}
	s.count++
	if len(s.effects) < limits.EffectsKept {
		s.effects = append(s.effects, desk.Effect(e, s.start))
	}
}

// reply turns the table's answer into the guest's, and gives each refusal its number.
func (s *sink) reply(value int64, err error) hw.Reply {
	if err == nil {
		return hw.Reply{Value: value}
	}
	refusal, ok := errors.AsType[*pin.Refusal](err)
	if !ok {
		return hw.Reply{Errno: errnoIO, Text: err.Error()}
	}
	n := s.c.refusals.Add(1)
	for at := s; at != nil; at = at.parent {
		at.refusals++
		at.refused, at.number = refusal, n
	}
	s.c.denied(s.caller, refusal, n)
	s.c.log.Info("refused", "actor", s.caller.Name, "rule", refusal.Rule, "pin", refusal.Resource, "refusal", n)
	text := refusal.Message + " [rule: " + refusal.Rule + "]"
	if len(refusal.Nearest) > 0 {
		text += fmt.Sprintf("; allowed: %v", refusal.Nearest)
	}
	return hw.Reply{Errno: int32(refusal.Errno), Refusal: n, Text: text}
}

var eventName = regexp.MustCompile(`^[A-Za-z0-9_.:-]+$`)

// event publishes what the guest pushes, under user: so that it can never look like an event of the guard.
func (s *sink) event(call hw.Call) hw.Reply {
	if len(call.Text) > limits.EventNameBytes || !eventName.MatchString(call.Text) {
		return hw.Reply{Errno: errnoINVAL, Text: fmt.Sprintf("an event name is 1 to %d letters, digits, . _ : or -", limits.EventNameBytes)}
	}
	data, err := protocol.EventData(call.Data)
	if err != nil {
		return hw.Reply{Errno: errnoINVAL, Text: "event data: " + err.Error()}
	}
	s.c.cfg.Events.Emit("user:"+call.Text, data)
	return hw.Reply{}
}

// Output keeps what the program prints and streams it when that was asked for. What a board function prints belongs to the
// code that called it.
func (s *sink) Output(stream hw.Stream, p []byte) {
	if s.parent != nil {
		s.parent.Output(stream, p)
		return
	}
	s.text.Add(stream == hw.Stderr, p)
}

// finish takes in what the executor cut.
func (s *sink) finish(out hw.Outcome) { s.text.Finish(out.DroppedOut, out.DroppedErr) }

// stream sends a part of what is printed.
func (s *sink) stream(stream string, part []byte) {
	s.job.conn.TrySend(answers.Encode(protocol.Output{
		Header: protocol.NewHeader(s.job.req.ID, protocol.AnswerOutput), Stream: stream, Data: protocol.Text(part), Seq: s.seq,
	}))
	s.seq++
}

// callerOf is who a connection's requests act as.
func callerOf(w *who, k *conn) pin.Caller {
	a := w.Actor
	return pin.Caller{Name: a.Name, Drive: a.Can("actuate"), Ask: a.Ask, Human: a.Class == identity.Human, Admin: a.Can("admin"), Conn: k.ID}
}

// result puts together what a client is told.
func (c *Core) result(j *job, s *sink, out hw.Outcome, cause error, took time.Duration) protocol.Result {
	s.finish(out)
	dropped := s.text.Dropped()
	r := protocol.Result{
		Header: protocol.NewHeader(j.req.ID, protocol.AnswerResult), Stdout: s.text.Out(), Stderr: s.text.Err(),
		ExecTimeMS: took.Milliseconds(), Truncated: dropped > 0, DroppedBytes: dropped, Effects: s.effects, EffectsRefused: s.refusals,
		VMRestarted: out.Died, Rung: int(out.Rung), Guard: guardKind, Session: j.session, Trace: j.trace, Fuel: out.Fuel, Meta: j.req.Meta,
	}
	if s.count > len(s.effects) {
		r.EffectsCount = s.count
	}
	if v, err := protocol.GuestValue(out.Value, limits.OutputMax); len(out.Value) > 0 && err == nil {
		r.Value = v
	}
	if e := out.Exception; e != nil {
		r.Exception = desk.Exception(e)
	}
	c.explain(&r, s, out, cause)
	r.Error = r.Code != ""
	r.Retryable = r.Code.Retryable()
	return r
}

// explain chooses code and message of a result. What ended the exec from outside comes before what the program says.
func (c *Core) explain(r *protocol.Result, s *sink, out hw.Outcome, cause error) {
	ended := protocol.CodeInterrupted
	if errors.Is(cause, errDeadline) {
		ended = protocol.CodeDeadline
	}
	switch {
	case !out.Started && errors.Is(cause, errClosing):
		r.Code, r.Message = protocol.CodeUnavailable, cause.Error()
	case !out.Started && cause != nil:
		r.Code, r.Message = ended, cause.Error()
	case !out.Started:
		r.Code, r.Message = protocol.CodeUnavailable, "no machine can be had: "+out.Cause
	case out.Rung != hw.RungNone && cause != nil:
		r.Code, r.Message = ended, fmt.Sprintf("%v; ended at rung %d", cause, out.Rung)
		if out.Died {
			r.Message += ": the machine was replaced, its names are gone and what it drove is safe"
		}
	case out.Died:
		r.Code, r.Message = protocol.CodeVMRestarted, "the machine was lost and replaced, what it drove is safe: "+out.Cause
	case out.Exception != nil && s.refused != nil && out.Refusal == s.number:
		f := s.refused
		r.Code, r.Message, r.Rule, r.Resource = protocol.Code(f.Code), f.Message, f.Rule, f.Resource
		r.Holder, r.Nearest, r.Refusal, r.ApprovalID = f.Holder, f.Nearest, s.number, f.Approval
	case out.Exception != nil:
		r.Code = protocol.CodePythonError
	}
}
