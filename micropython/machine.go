package micropython

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/micropython/files"
	"github.com/pal-terminal/pal/vm/frame"
)

// fatal ends the machine: thrown by host functions, through the engine, as a panic that the engine's runtime turns into an
// error. The text is the last line on standard error.
type fatal struct{ why string }

func (f fatal) Error() string { return f.why }

// machine is one MicroPython with its files, its output and its channel. Everything happens on one goroutine.
type machine struct {
	ctx   context.Context
	opts  Options
	start time.Time
	eng   *engine
	ch    *channel
	files *files.Tree

	random         randomness
	stdout, stderr stream
	streams        []openStream
	pendingSince   time.Time // of the oldest byte in either stream
	lastBeat       time.Time

	serving bool // Ready was sent: nothing else may be sent before it
	sealed  bool // programs find no host functions any more
	driver  record
	drain   uint32 // the engine's address of the callable that runs interrupt handlers
	args    [maxHostArgs]record

	seq       uint32
	kind      hw.JobKind
	running   bool // a job's Run record was taken and its Done not sent
	inGuest   bool // between the driver's enter and leave: interrupts may be raised
	wanted    bool // an interrupt to raise as soon as that is right
	attention bool // an interrupt was raised: a sleep ends early
	fault     hw.Reply
	call      frame.Call
	reply     *frame.Reply // the answer that hardware() waits for, once it came
	waiting   bool
	posting   posting
	ticks     uint64
	fuelAt    int64 // fuel left when the guest was entered
	outcome   hw.Outcome
	answered  bool // the driver reported the job's end
	wornOut   bool // the heap stays full whatever is forgotten: the machine ends after this job

	edges     edgeQueue
	edge      hw.Edge // the one whose handler runs
	wall      time.Time
	scheduled bool
	masked    bool // machine.disable_irq
	kicked    bool // callbacks of micropython.schedule wait

	buffers    bufferTypes
	clockAhead time.Duration // of the system's clock
	scratch    []byte        // data of a call that is put together, reused
}

// newMachine boots an engine whose channel is ch and loads the guest library. With a nil ch only jobs that touch no hardware
// can run.
func newMachine(ctx context.Context, opts Options, ch *channel) (*machine, error) {
	m := &machine{
		ctx: ctx, opts: opts, ch: ch, start: time.Now(),
		stdout: stream{id: hw.Stdout}, stderr: stream{id: hw.Stderr},
	}
	m.lastBeat = m.start
	m.files = files.New(files.Host{Ask: m.beside, Print: m.print, Source: plainDecorators})
	if err := m.files.AddLibrary(library); err != nil {
		return nil, err
	}
	eng, err := startEngine(ctx, opts.CacheDir, opts.HeapBytes, m)
	if err != nil {
		return nil, err
	}
	if err := m.loadDriver(); err != nil {
		return nil, errors.Join(fmt.Errorf("load the guest library: %w", err), eng.close(ctx))
	}
	return m, nil
}

func (m *machine) close() error { return m.eng.close(m.ctx) }

func (m *machine) sinceStart() time.Duration { return time.Since(m.start) }

func (m *machine) send(rec any) {
	if err := m.ch.send(rec); err != nil {
		panic(err)
	}
}

// serve runs jobs until the guard ends the channel (nil) or the machine cannot go on (an error).
func (m *machine) serve() (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			err = ending(r)
		default:
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	m.serving = true
	for {
		rec, err := m.ch.next()
		if err != nil {
			return err
		}
		if rec == nil {
			if err := m.idle(); err != nil {
				return ending(err)
			}
			continue
		}
		if run, ok := rec.(frame.Run); ok {
			if err := m.run(run); err != nil {
				return ending(err)
			}
			continue
		}
		m.handle(rec)
	}
}

// ending tells the channel's end from a failure.
func ending(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (m *machine) idle() error {
	got, err := m.ch.receive(true)
	if err == nil && !got {
		m.heartbeat(time.Now())
	}
	return err
}

// handle acts on a record other than Run.
func (m *machine) handle(rec any) {
	switch r := rec.(type) {
	case frame.Interrupt:
		if m.running && r.Seq == m.seq {
			m.wanted = true
			m.raise()
		}
	case frame.Edge:
		m.queueEdge(r.Edge)
	case *frame.Reply:
		if !m.waiting || m.reply != nil {
			panic(fatal{"an answer that nobody waits for"})
		}
		m.reply = r
	default:
		panic(fatal{fmt.Sprintf("unexpected record %T", rec)})
	}
}

// raise makes KeyboardInterrupt pending in the engine when one is wanted and the guest's own code runs.
func (m *machine) raise() {
	if !m.wanted || !m.inGuest {
		return
	}
	m.wanted, m.attention = false, true
	if err := m.eng.keyboard.CallWithStack(m.ctx, m.eng.args[:]); err != nil {
		panic(fatal{"raise KeyboardInterrupt: " + err.Error()})
	}
}

// pump handles every record that is already there.
func (m *machine) pump() {
	if m.ch == nil {
		return
	}
	if _, err := m.ch.receive(false); err != nil {
		panic(err)
	}
	m.drainRecords()
}

func (m *machine) drainRecords() {
	for {
		rec, err := m.ch.next()
		if err != nil {
			panic(err)
		}
		if rec == nil {
			return
		}
		m.handle(rec)
	}
}

// tick is where the engine lets the host have a say, about once a millisecond of busy work. It may come in the middle of
// anything the engine does, so that nothing of the engine is entered but what only sets a flag.
func (m *machine) tick() {
	m.ticks++
	m.pump()
	m.settle()
	now := time.Now()
	m.heartbeat(now)
	m.flushOld(now)
	m.raise()
	m.scheduleHandlers()
}

// heartbeat sends one when the last is limits.HeartbeatPeriod ago.
func (m *machine) heartbeat(now time.Time) {
	// Receives time out after exactly one period: without the margin every second beat would be skipped.
	if !m.serving || now.Sub(m.lastBeat) < limits.HeartbeatPeriod-limits.HeartbeatPeriod/16 {
		return
	}
	m.lastBeat = now
	m.send(frame.Heartbeat{})
}

// fuel is what the running job has burnt.
func (m *machine) fuel() uint64 {
	if !m.inGuest {
		return m.outcome.Fuel
	}
	return uint64(max(0, int64(m.ticks)*fuelPerTick+m.fuelAt-m.eng.fuelLeft()))
}

// hardware makes one call to the guard and waits for its answer; meanwhile edges and interrupts are taken in.
func (m *machine) hardware(op hw.Op, pin uint16, a, b, c int64) *hw.Reply {
	m.call.Call.Op, m.call.Call.Pin, m.call.Call.A, m.call.Call.B, m.call.Call.C = op, pin, a, b, c
	return m.exchange()
}

// perform makes one call that carries text or data.
func (m *machine) perform(c hw.Call) *hw.Reply {
	m.call.Call = c
	r := m.exchange()
	m.call.Call.Text, m.call.Call.Data = "", nil
	return r
}

func (m *machine) exchange() *hw.Reply {
	if m.ch == nil || !m.running {
		return &hw.Reply{Errno: errnoENODEV, Text: "no hardware while the machine starts"}
	}
	if r := m.overdue(); r != nil {
		return r
	}
	m.flushAll()
	return m.ask()
}

// ask sends the call and waits for its answer.
func (m *machine) ask() *hw.Reply {
	m.posting.open = 0 // the answer comes behind them all
	m.call.Seq = m.seq
	m.send(&m.call)
	m.waiting, m.reply = true, nil
	for m.reply == nil {
		got, err := m.ch.receiveSoon()
		if err != nil {
			panic(err)
		}
		if !got {
			m.heartbeat(time.Now())
		}
		m.drainRecords()
	}
	m.waiting = false
	m.scheduleHandlers()
	return &m.reply.Reply
}

// sleep waits until the deadline and reports false, or returns early and reports true because something wants the guest's
// attention: an interrupt that is now pending, or an edge whose handler is due.
func (m *machine) sleep(until time.Duration) bool {
	m.flushAll()
	told := m.posting.owed != nil // and is raised when that can be, which the wait must not wait for
	m.settle()
	if m.posting.owed != nil && !told || m.attention {
		m.attention = false
		return true
	}
	for {
		now := time.Now()
		left := until - now.Sub(m.start)
		if left <= 0 {
			return false
		}
		if left <= limits.SpinWait { // a thread that sleeps wakes later than that
			for m.sinceStart() < until {
			}
			return false
		}
		m.heartbeat(now)
		if m.ch == nil {
			return false
		}
		if err := m.ch.wait(min(left, limits.HeartbeatPeriod)); err != nil {
			panic(err)
		}
		m.pump()
		if m.attention {
			m.attention = false
			return true
		}
		if m.edges.count > 0 && !m.scheduled && !m.masked {
			m.scheduleHandlers()
			return true
		}
	}
}
