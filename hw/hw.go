// Package hw holds the words that the guard and the executors share: a job to run, the hardware calls a job makes, and
// what came of it.
//
// # Model
//
// The guard ("Core 0") hands a [Job] to an [Executor] and gives it a [Sink]. While the job runs, the executor turns every
// hardware use of the guest's code into a [Call] on the sink and waits for the [Reply]; when the job ends it returns an
// [Outcome]. The executor never touches hardware and the guard never runs guest code: this package is all they know of
// each other, so a virtual machine in a child process, a MicroPython board on a serial line and a test double are
// interchangeable.
//
// hw is a leaf: it imports nothing of ours and does no work. Nothing in a Call may be trusted by the sink: the code that
// made it is assumed hostile.
package hw

import (
	"context"
	"time"
)

// Op names what a Call asks for.
type Op uint8

// The operations. Handles are indices into the board's pins as returned by OpPinOpen; the guard bounds and checks them at
// every call.
const (
	OpPinOpen   Op = iota + 1 // Text: pin as the program wrote it ("5", "LED"); Reply.Value: handle
	OpPinMode                 // Pin, A: Mode, B: Pull, C: initial level or -1
	OpPinRead                 // Pin; Reply.Value: 0 or 1
	OpPinWrite                // Pin, A: 0 or 1
	OpPinToggle               // Pin; flips an output's own level in one step
	OpPinIRQ                  // Pin, A: Edges (0 disarms); edges come back as Executor.Edge
	OpADCOpen                 // Text: pin; Reply.Value: handle
	OpADCRead                 // Pin; Reply.Value: raw, 12 bits; Reply.Extra: microvolts
	OpEvent                   // Text: event name, Data: JSON or empty
	OpBoardCall               // Text: function of board.py, Data: JSON [args, kwargs]; Reply.Data: JSON value. Engineering mode only
	OpRefuse                  // Text: a thing the program may never have ("machine.WDT"); the guard refuses, numbers and records it
	OpFlush                   // the executor's own, no sink sees it; the answer is that of the first Call.Posted since the last flush that was refused or went wrong, else success
	OpPWM                     // Pin, A: frequency in Hz (0 ends it: the output goes safe), B: duty 0 to 65535, C: on-time in ns, or -1 when B counts
	OpPulse                   // Pin, A: level, B: timeout in µs; Reply.Value: width in µs, -1 it did not end in time, -2 it did not begin
	OpBitstream               // Pin, Data: 4 × uint32 little endian, ns high and low of a 0 and of a 1, then the bytes, first bit first
	OpDHT                     // Pin; Reply.Data: the 5 bytes of the sensor, checksum not checked
	OpOneWire                 // Pin, A: OneWireReset, OneWireWrite or OneWireRead
	OpBusOpen                 // Text: "i2c:0", "spi:1", "uart:1" or, chosen by lines, "i2c:"; Data: JSON object of settings; Reply.Value: bus handle
	OpBusClose                // Pin: bus handle
	OpI2C                     // Pin: bus handle, A: address, B: I2CFlags, C: bytes to read after the write, Data: bytes to write; Reply.Value: bytes acknowledged, Reply.Data: bytes read
	OpI2CScan                 // Pin: bus handle; Reply.Data: addresses that answered, 8 to 119, ascending
	OpSPI                     // Pin: bus handle, A: 1 to be told what came in, Data: bytes to send; Reply.Data: as many bytes
	OpUARTWrite               // Pin: bus handle, Data; Reply.Value: bytes taken
	OpUARTRead                // Pin: bus handle, A: most bytes; Reply.Data: what has come so far
	OpUARTAny                 // Pin: bus handle; Reply.Value: bytes that have come
	OpUARTIRQ                 // Pin: bus handle, A: 1 to arm, 0 to disarm; arrivals come back as Executor.Edge with SourceUART
	OpCountOpen               // Text: pin, A: Edges counted, B: handle of the second line of an encoder or -1, C: phases 1, 2 or 4; Reply.Value: counter handle
	OpCount                   // Pin: counter handle, A: 0 read, 1 set to B and read what was before, 2 close; Reply.Value: count, 63 bits
	OpTimer                   // Pin: the program's timer number, A: period in µs (0 ends it), B: 1 periodic, 0 once; it comes back as Executor.Edge with SourceTimer
	OpFile                    // A: a File constant; see there
	OpTool                    // Text: name of a function of the running code that is to be offered as a tool
	OpNetwork                 // Text: "scan" or "status"; Reply.Data: JSON
)

// What OpOneWire does (Call.A).
const (
	OneWireReset = iota // Reply.Value: 1 when a device answered
	OneWireWrite        // Data: bytes
	OneWireRead         // B: bytes; Reply.Data
	OneWireBit          // B: 0 or 1 to write that bit, -1 to read one; Reply.Value: the bit on the line
)

// I2CFlags of OpI2C (Call.B).
const (
	I2CNoStop  = 1 << iota // the bus stays taken: the next transaction begins with a repeated START
	I2CNoStart             // Data goes on where the last transaction stopped
)

// What OpFile does (Call.A) with the path in Text, which is absolute within /flash: "/" is /flash itself. Paths are clean: no
// empty, "." or ".." part. Errors are POSIX numbers.
const (
	FileStat   = iota + 1 // Reply.Value: size, -1 for a folder; Reply.Extra: seconds since 1970 of the last change
	FileRead              // B: offset, C: most bytes; Reply.Data, shorter at the end
	FileWrite             // B: offset, -1 for the end; Data; Reply.Value: bytes written
	FileCreate            // B: 1 it must not be there yet, 2 it is emptied when it is, 0 neither
	FileResize            // B: bytes
	FileRemove            // a file
	FileMkdir
	FileRmdir  // an empty folder
	FileRename // Data: the new path; a file of that name is replaced
	FileList   // Reply.Data: for each entry 1 byte 'f' or 'd', uint32 little endian size, the name and a NUL, in byte order of names
	FileFree   // Reply.Value: bytes free, Reply.Extra: bytes in all
	FileSync   // what was written is on the disk when it answers
)

// Mode is a pin's direction. The values are the guest library's Pin.IN, Pin.OUT and Pin.OPEN_DRAIN.
type Mode uint8

// Directions of a pin.
const (
	ModeNone Mode = iota // not configured
	ModeIn
	ModeOut
	ModeOpenDrain
	ModeAnalog
	ModePWM // driven by OpPWM
	ModeBus // a line of a bus that is open, or of a counter
)

// String returns the mode in the words of the protocol.
func (m Mode) String() string {
	switch m {
	case ModeNone:
		return "none"
	case ModeIn:
		return "in"
	case ModeOut:
		return "out"
	case ModeOpenDrain:
		return "open_drain"
	case ModeAnalog:
		return "analog"
	case ModePWM:
		return "pwm"
	case ModeBus:
		return "bus"
	}
	return "unknown"
}

// Pull is a pin's bias.
type Pull uint8

// Biases of a pin.
const (
	PullNone Pull = iota
	PullUp
	PullDown
)

// Edges is a set of level changes. The values are the guest library's Pin.IRQ_RISING and Pin.IRQ_FALLING.
type Edges uint8

// Level changes.
const (
	EdgeRising  Edges = 1
	EdgeFalling Edges = 2
)

// Call is one use of hardware by guest code.
type Call struct {
	Op      Op
	Pin     uint16 // handle
	A, B, C int64
	Text    string
	Data    []byte

	// Posted: nobody waits for the answer. Only OpPinWrite and OpPinToggle may be posted. After one of a job was refused or went wrong the
	// executor performs no further call of that job, posted or not, until it has answered one that is waited for with that reply.
	Posted bool
}

// PostAllowed is set in Reply.Extra of OpPinOpen, OpPinMode, OpPinWrite and OpPinToggle when writes to the pin may be posted: an
// output that has no rule whose refusal a program would have to hear of at once.
const PostAllowed = 1

// Reply answers a Call.
type Reply struct {
	Errno   int32  // 0 ok, else a POSIX number as MicroPython has it (EACCES is 13)
	Refusal uint32 // number of the guard's refusal within this terminal's run, 0 when it is not a refusal
	Value   int64
	Extra   int64
	Text    string // message when Errno is not 0
	Data    []byte
}

// Source says what an Edge is about.
type Source uint8

// Sources of edges.
const (
	SourcePin   Source = iota // Pin is a pin handle: its level changed
	SourceTimer               // Pin is the program's number of a timer that is due
	SourceUART                // Pin is a bus handle: bytes have come
)

// Edge is something that a program armed a handler for: a level change (OpPinIRQ), a timer (OpTimer), bytes on a UART (OpUARTIRQ).
type Edge struct {
	Source Source
	Pin    uint16
	Rose   bool
	Lost   uint32 // changes or turns that the guard or the executor could not deliver before this one
	AtUS   int64  // microseconds on the guard's monotonic clock
	Label  string // session that armed it
}

// Stream tells standard output from standard error.
type Stream uint8

// Streams.
const (
	Stdout Stream = 1
	Stderr Stream = 2
)

// Sink is the guard's side of a running job. Methods are called from one goroutine at a time, the executor's, and must not
// be called after Executor.Run has returned.
type Sink interface {
	// Call performs or refuses one hardware call; that it was posted is nothing to the sink.
	Call(ctx context.Context, c Call) Reply
	// Output receives what the program prints, already cut to Job.MaxOutput for each stream. p is valid during the call only.
	Output(s Stream, p []byte)
}

// JobKind says what a Job runs.
type JobKind uint8

// Kinds of job.
const (
	JobExec    JobKind = iota + 1 // run Code in Session
	JobBoard                      // run Code as the module board; Outcome.Value: JSON list of its public function names
	JobProxy                      // install a board module whose functions (Args: JSON list of names) call the guard; Code: source text to show
	JobFunc                       // call board function Func, or with a Session the tool Func that code of it registered, with Args (JSON [args, kwargs]); Outcome.Value: JSON value
	JobHandler                    // run the handlers for Edge in the idle machine
)

// Job is one piece of guest work.
type Job struct {
	Kind      JobKind
	Session   string   // namespace key; empty means a fresh one that is thrown away
	Drop      []string // namespaces to forget first
	Code      string
	Func      string
	Args      []byte
	Single    bool // compile as one interactive statement: expression values print their repr
	Eval      bool // the last expression becomes Outcome.Value (JSON; what JSON cannot hold becomes its repr)
	MaxOutput int  // bytes kept of each stream
	Edge      Edge

	// Generation, when not 0, is the only machine the job may run on: a job that relies on what an earlier one set up must
	// not start in a fresh machine. It is the guard's own and never reaches the machine.
	Generation uint64
}

// Exception is an uncaught Python exception.
type Exception struct {
	Class     string
	Message   string
	Line      int // in the job's own source, 0 when unknown
	Traceback string
}

// Rung is a step of the watchdog ladder that was needed to end a job; see [Outcome.Rung].
type Rung uint8

// Rungs of the ladder.
const (
	RungNone      Rung = iota // the job ended by itself
	RungInterrupt             // KeyboardInterrupt ended it; names and state survive
	RungKill                  // the machine was killed and replaced
	RungSilence               // the machine fell silent, was killed and replaced
)

// Outcome is what came of a Job.
type Outcome struct {
	Exception  *Exception
	Value      []byte // JSON, for Eval, JobBoard and JobFunc
	Fuel       uint64 // loop turns and calls burnt: deterministic for the same program and state
	Refusal    uint32 // number carried by the uncaught OSError when the guard's refusal caused it
	DroppedOut int    // bytes of each stream that were cut
	DroppedErr int
	Rung       Rung
	Died       bool   // the machine is gone; the next job runs in a fresh one
	Cause      string // why it died, for people
	Stale      bool   // not started: the machine is of another generation than Job.Generation
	Started    bool   // the job reached the machine (an outcome of a machine that could not be had has false)
}

// Executor runs jobs one at a time in an isolated MicroPython.
type Executor interface {
	// Run runs one job and returns when it has ended, one way or another. When ctx ends first the executor climbs the
	// watchdog ladder: interrupt, grace, kill. Run never returns while the guest could still make calls on sink.
	// Callers serialise Run.
	Run(ctx context.Context, job Job, sink Sink) Outcome
	// Edge delivers a level change to the running job, whose handlers run between bytecodes. It never blocks and reports
	// false when no job is running or the queue is full. Safe from any goroutine.
	Edge(e Edge) bool
	// Generation counts the machines used so far, from 1, so that it is never 0, which stands for any; it changes when the machine was replaced. Safe from any goroutine.
	Generation() uint64
	// Reset replaces the machine. Callers serialise it with Run.
	Reset(ctx context.Context) error
	// Close ends the machine and every goroutine of the executor.
	Close() error
}

// NoticeKind says what an executor reports by itself.
type NoticeKind uint8

// Kinds of notice.
const (
	NoticeWarning   NoticeKind = iota + 1 // no heartbeat for most of the allowed silence
	NoticeLost                            // the machine is gone; sent at once, before a replacement is there
	NoticeRestarted                       // a lost machine was replaced
)

// Notice is something that happened to an executor's machine, also between jobs.
type Notice struct {
	Kind  NoticeKind
	Cause string
	Took  time.Duration // from the loss to a machine that can run
}
