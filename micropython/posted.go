package micropython

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

// Writes that nobody waits for. The guard says of each output whether writes to it may be posted (hw.PostAllowed). It does them
// in order with everything else, and once one has failed it does nothing more until it was asked something that it can answer
// with that failure. Here the failure becomes an OSError at the next thing that can raise one: a hardware call, or a jump after
// a tick, a sleep, a question for the time or a print. An end of the job in between is a failed one.

// posting is what a machine knows of its posted calls.
type posting struct {
	allowed [limits.BoardPins]bool // by handle, for the running job
	open    int                    // posted since the guard last answered
	owed    *hw.Reply              // the failure that is still to be raised
	late    uint32                 // the engine's address of the exception made of it, 0 for none
	word    uint32                 // where the engine keeps an exception that is raised at the next jump
}

// allow notes what the answer to a call about a pin says of posting.
func (m *machine) allow(pin int64, r *hw.Reply) {
	if r.Errno == 0 && pin >= 0 && pin < int64(len(m.posting.allowed)) {
		m.posting.allowed[pin] = r.Extra&hw.PostAllowed != 0
	}
}

// openPin opens a pin and learns whether it is posted to.
func (m *machine) openPin(a []record) record {
	name := a[0].text(m.eng.mem)
	if len(name) > limits.NameBytes {
		return m.fail(errnoEINVAL, "name is too long")
	}
	r := m.perform(hw.Call{Op: hw.OpPinOpen, Text: string(name)})
	m.allow(r.Value, r)
	return m.result(r)
}

// modePin sets a pin up.
func (m *machine) modePin(a []record) record {
	return m.aboutPin(hw.OpPinMode, a[0], a[1].number(), a[2].number(), a[3].number())
}

// aboutPin makes a call whose answer says whether the pin is posted to.
func (m *machine) aboutPin(op hw.Op, pin record, a, b, c int64) record {
	h := pin.number()
	if h < 0 || h >= int64(len(m.posting.allowed)) {
		return m.fail(errnoEINVAL, "no such pin")
	}
	r := m.hardware(op, uint16(h), a, b, c)
	m.allow(h, r)
	return m.result(r)
}

// writePin writes or toggles an output, without waiting where that is allowed.
func (m *machine) writePin(op hw.Op, pin record, level int64) record {
	h, p := pin.number(), &m.posting
	if h < 0 || h >= int64(len(p.allowed)) || !p.allowed[h] || p.owed != nil {
		return m.aboutPin(op, pin, level, 0, 0)
	}
	m.flushAll()
	m.call.Seq = m.seq
	m.call.Call = hw.Call{Op: op, Pin: uint16(h), A: level, Posted: true}
	m.send(&m.call)
	m.call.Call.Posted = false
	if p.open++; p.open < limits.PostedCalls {
		return integer(0)
	}
	m.settle()
	if r := m.overdue(); r != nil {
		return m.result(r)
	}
	return integer(0)
}

// settle waits until the guard has done what was posted, and keeps what the first failure came to. It enters the engine only to
// set flags, so a tick may call it.
func (m *machine) settle() {
	if m.posting.open == 0 {
		return
	}
	m.call.Call = hw.Call{Op: hw.OpFlush}
	if r := m.ask(); r.Errno != 0 {
		m.posting.owed = r
		m.scheduleHandlers()
	}
}

// beside makes a call in whose place nothing else may be raised, since the engine makes an error of its own from the answer. What
// posted calls came to waits for the next jump.
func (m *machine) beside(c hw.Call) *hw.Reply {
	m.settle()
	owed := m.posting.owed
	m.posting.owed = nil
	r := m.perform(c)
	m.posting.owed = owed
	return r
}

// overdue takes the failure that is still to be raised, nil for none.
func (m *machine) overdue() *hw.Reply {
	r := m.posting.owed
	m.posting.owed, m.posting.late = nil, 0
	return r
}

// settled is settle for the driver, at the end of the guest's own code: None when something is to be raised.
func (m *machine) settled([]record) record {
	m.settle()
	if r := m.overdue(); r != nil {
		return m.result(r)
	}
	return integer(0)
}

// failing reports whether there is a failure to be raised, and describes it as that of a host function.
func (m *machine) failing([]record) record {
	if m.posting.owed == nil {
		return flag(false)
	}
	m.result(m.posting.owed)
	return flag(true)
}

// throwable takes the address of the exception that was made of the failure.
func (m *machine) throwable(a []record) record {
	if m.posting.owed != nil {
		m.posting.late = uint32(a[0].number())
	}
	return null
}

// throw has the engine raise that exception at the next jump. An interrupt that is to be raised there comes first.
func (m *machine) throw([]record) record {
	p := &m.posting
	if p.late == 0 || !m.inGuest {
		return null
	}
	if pending, ok := m.eng.mem.ReadUint32Le(p.word); !ok || pending != 0 {
		return null
	}
	if err := m.eng.keyboard.CallWithStack(m.ctx, m.eng.args[:]); err != nil {
		panic(fatal{"raise a late OSError: " + err.Error()})
	}
	m.eng.mem.WriteUint32Le(p.word, p.late)
	m.attention = true
	m.overdue()
	return null
}

// closePosting ends the posting of a job, whose outcome must not hide a failure.
func (m *machine) closePosting() {
	m.settle()
	clear(m.posting.allowed[:])
	r := m.overdue()
	if r == nil || m.outcome.Exception != nil {
		return
	}
	m.refuse("OSError", fmt.Sprintf("[Errno %d] %s", r.Errno, r.Text))
	m.outcome.Refusal, m.outcome.Value = r.Refusal, nil
}

// staticBytes is where the engine's own variables end at the latest.
const staticBytes = 256 << 10

// linkThrow finds the word in which the engine keeps an exception until the next jump: the one that an interrupt turns from nothing
// into an address. Nothing may run in the engine yet; afterwards it is as before.
func (e *engine) linkThrow(m *machine) error {
	now := e.linear[:staticBytes]
	before := slices.Clone(now)
	if err := e.keyboard.CallWithStack(m.ctx, e.args[:]); err != nil {
		return fmt.Errorf("interrupt the idle engine: %w", err)
	}
	found := 0
	for at := uint32(0); at < staticBytes; at += 4 {
		was, is := binary.LittleEndian.Uint32(before[at:]), binary.LittleEndian.Uint32(now[at:])
		if was == 0 && is > at && is < staticBytes && is%4 == 0 {
			m.posting.word = at
			found++
		}
	}
	copy(now, before)
	if found != 1 {
		return errors.New("the engine's pending exception is not where it is looked for")
	}
	return nil
}
