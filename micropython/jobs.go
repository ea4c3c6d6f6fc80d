package micropython

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/vm/frame"
)

// driverSource is the Python side of this file. It is no file of the guest's and its names cannot be reached by a program.
//
//go:embed lib/driver.py
var driverSource string

//go:embed lib/driver_values.py
var driverValues string

// The guest library: what a program finds in /lib.
//
//go:embed lib/*.py lib/machine/*.py
var library embed.FS

const (
	ownSource = `  File "<stdin>", line `

	flagSingle = 1
	flagEval   = 2
	kindDrop   = 0 // beside hw's kinds: forget a session, "" forgets all
)

// loadDriver runs the driver, which takes its host functions, loads the library and registers its entry point.
func (m *machine) loadDriver() error {
	const start = "import js\nexec(compile(js.driver_source(), '<pal>', 'exec'), {'js': js, '__name__': 'pal'})\ndel js\n"
	if err := m.eng.exec(m.ctx, start); err != nil {
		return err
	}
	if m.driver.kind == 0 || !m.sealed {
		return errors.New("the driver did not register")
	}
	return nil
}

func (m *machine) register(a []record) record {
	m.driver = a[0]
	m.drain = uint32(a[1].number())
	if err := m.eng.linkScheduler(uint32(a[2].number())); err != nil {
		panic(fatal{err.Error()})
	}
	if err := m.eng.linkThrow(m); err != nil {
		panic(fatal{err.Error()})
	}
	return null
}

// run runs one job and reports its end. An error means that the engine is not to be trusted any more.
func (m *machine) run(r frame.Run) error {
	job := &r.Job
	m.seq, m.kind, m.running, m.wanted, m.answered = r.Seq, job.Kind, true, false, false
	m.outcome = hw.Outcome{}
	m.edges.reset()
	m.scheduled, m.masked, m.kicked = false, false, false
	m.stdout.reset(job.MaxOutput)
	m.stderr.reset(job.MaxOutput)
	m.openStreams()
	m.files.Begin(r.Seq)
	for _, key := range job.Drop {
		if err := m.drive(kindDrop, &hw.Job{Session: key}); err != nil {
			return err
		}
	}
	switch {
	case !utf8.ValidString(job.Code) || !utf8.ValidString(job.Session) || !utf8.ValidString(job.Func) || !utf8.Valid(job.Args):
		m.refuse("SyntaxError", "source is not UTF-8")
	default:
		if err := m.drive(job.Kind, job); err != nil {
			return err
		}
		if !m.answered {
			if err := m.exhausted(job); err != nil {
				return err
			}
		}
	}
	m.closePosting()
	m.outcome.DroppedOut, m.outcome.DroppedErr = m.stdout.dropped, m.stderr.dropped
	m.flushAll()
	m.running = false
	if m.wornOut { // instead of the job's end: its client is to be told that the names are gone, and the next job not to be lost
		return fatal{"the heap stays full after every session was forgotten"}
	}
	m.send(frame.Done{Seq: m.seq, Outcome: m.outcome})
	return nil
}

// refuse ends a job that never reached Python.
func (m *machine) refuse(class, message string) {
	text := "Traceback (most recent call last):\n" + class + ": " + message + "\n"
	m.print(hw.Stderr, []byte(text))
	m.outcome.Exception = &hw.Exception{Class: class, Message: message, Traceback: text}
}

// exhausted ends a job whose driver call failed before the driver could run: the program's names of earlier jobs fill the
// heap to the last byte. The session is dropped, so that the next job has room.
func (m *machine) exhausted(job *hw.Job) error {
	m.inGuest = false
	if err := m.drive(kindDrop, &hw.Job{}); err != nil {
		return err
	}
	m.refuse("MemoryError", "heap is full; the names of all sessions were forgotten")
	return nil
}

// drive calls the driver's entry point. The driver catches everything; when even that fails the engine answers with an
// exception and m.answered stays false.
func (m *machine) drive(kind hw.JobKind, job *hw.Job) error {
	flags := 0
	if job.Single {
		flags |= flagSingle
	}
	if job.Eval {
		flags |= flagEval
	}
	edge := edgeKey(job.Edge.Source, job.Edge.Pin)
	m.edge = job.Edge
	const n = 7
	params, err := m.eng.alloc(m.ctx, (n+1)*recordBytes)
	if err != nil {
		return err
	}
	values := [n]record{
		integer(int64(kind)), m.str(job.Session), m.str(plainDecorators(job.Code)), m.str(job.Func), m.str(string(job.Args)),
		integer(int64(flags)), integer(edge),
	}
	for k, v := range values {
		m.eng.setRecord(params+uint32(k)*recordBytes, v)
	}
	out := params + n*recordBytes
	a := m.eng.args[:]
	a[0], a[1], a[2], a[3] = uint64(m.driver.a), n, uint64(params), uint64(out)
	if err := m.eng.proxyCall.CallWithStack(m.ctx, a); err != nil {
		return fmt.Errorf("the engine failed: %w", err)
	}
	m.giveBack(m.eng.record(out))
	return m.eng.release(m.ctx, params)
}

// enter starts the guest's own code: from here interrupts are raised and fuel is counted.
func (m *machine) enter([]record) record {
	m.ticks, m.fuelAt, m.inGuest = 0, m.eng.fuelLeft(), true
	m.raise()
	return null
}

// leave ends it. What was asked for and not raised yet is void: it must not hit the next job.
func (m *machine) leave([]record) record {
	if m.inGuest {
		m.outcome.Fuel = m.fuel()
	}
	m.inGuest, m.wanted, m.answered = false, false, true
	return null
}

// failed takes the uncaught exception: class, message, traceback, refusal number.
func (m *machine) failed(a []record) record {
	trace, line := ownTraceback(string(a[2].text(m.eng.mem)))
	if m.kind != hw.JobFunc { // its caller shows it, or catches it
		m.print(hw.Stderr, []byte(trace))
	}
	m.outcome.Exception = &hw.Exception{
		Class: clip(string(a[0].text(m.eng.mem))), Message: clip(string(a[1].text(m.eng.mem))),
		Line: line, Traceback: clip(trace),
	}
	m.outcome.Refusal, m.outcome.Value = uint32(a[3].number()), nil
	return null
}

// answer takes the job's value: whether the text is JSON, else it is text to be sent as a JSON string.
func (m *machine) answer(a []record) record {
	text := strings.ToValidUTF8(string(a[1].text(m.eng.mem)), "\uFFFD")
	if a[0].number() != 0 && json.Valid([]byte(text)) {
		if len(text) > limits.OutputMax {
			return integer(int64(len(text)))
		}
		m.outcome.Value = []byte(text)
		return null
	}
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false) // this is no web page, and a reader compares the text
	if err := enc.Encode(text); err != nil {
		return m.fail(errnoEINVAL, err.Error())
	}
	value := bytes.TrimSpace(raw.Bytes())
	if len(value) > limits.OutputMax {
		return integer(int64(len(value)))
	}
	m.outcome.Value = value
	return null
}

// clip keeps an exception's text within what a record has room for.
func clip(s string) string {
	return s[:runeBoundary([]byte(s), limits.ExceptionBytes)]
}

// ownTraceback removes the frames that a board would not show, those of the driver and of the library's replacements for
// built-in modules, and finds the innermost line of the job's own source (0: none).
func ownTraceback(text string) (string, int) {
	var out strings.Builder
	line, header := 0, true
	for l := range strings.Lines(text) {
		inFrames := header && (strings.HasPrefix(l, `  File "`) || strings.HasPrefix(l, "Traceback "))
		header = inFrames
		if inFrames {
			if strings.HasPrefix(l, `  File "<pal>"`) || strings.HasPrefix(l, `  File "/lib/`) {
				continue
			}
			if rest, ok := strings.CutPrefix(l, ownSource); ok {
				number, _, _ := strings.Cut(strings.TrimSpace(rest), ",")
				if n, err := strconv.Atoi(number); err == nil {
					line = n
				}
			}
		}
		out.WriteString(l)
	}
	return out.String(), line
}
