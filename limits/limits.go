// Package limits holds every bound of PAL in one place. Its sub-package table gives each its reason and what happens past it,
// and makes docs/limits.md of that. limits imports nothing of ours; a number that bounds anything and stands elsewhere is a
// defect.
package limits

import "time"

// Bounds on what runs.
const (
	ExecTimeoutDefault = 30 * time.Second
	MaxExecDefault     = 30 * time.Second
	MaxExecCeiling     = 10 * time.Minute
	InterruptGrace     = 200 * time.Millisecond
	HandlerTimeout     = 50 * time.Millisecond
	BoardInitTimeout   = 5 * time.Second
	CodeBytes          = 64 << 10
	OutputDefault      = 4 << 10
	OutputMax          = 64 << 10
	SessionsPerActor   = 16
	SessionsDropped    = 256
	SessionNameBytes   = 64
	EffectsKept        = 64
	EdgeQueue          = 64
	Timers             = 32 // of the machine
	TimerLeast         = time.Millisecond
	TimerLongest       = 24 * time.Hour
	SessionTools       = 16
	Watches            = 16 // of a connection
	WatchesTerminal    = 64
	WatchRate          = 20 // events of one watch in a second
	WatchSampling      = 50 * time.Millisecond
	FileRequests       = 8
)

// Bounds on messages.
const (
	MessageBytes    = 256 << 10
	ForwardBytes    = 512 << 10
	JSONDepth       = 32
	IDBytes         = 64
	NameBytes       = 64
	ReasonBytes     = 512
	EventNameBytes  = 64
	EventDataBytes  = 4 << 10
	MetaBytes       = 4 << 10
	CredentialBytes = 512
	ListItems       = 64
	DedupIDs        = 65_536
	DedupBytes      = 8 << 20
	DedupStreamKept = 4 << 10
	DedupWindow     = 24 * time.Hour
)

// Bounds on connections and queues.
const (
	Connections          = 32
	ConnectionsReserved  = 2
	ReservedLife         = 2 * time.Second
	HelloTimeout         = 5 * time.Second
	RequestsPerConn      = 8
	RequestsPerTerminal  = 8
	ConnWriteQueue       = 64
	ConnWriteTimeout     = 5 * time.Second
	GraveEvents          = 256
	EventRing            = 1024
	ObserverQueue        = 256
	AdmissionQueue       = 256
	Tokens               = 256
	Unidentified         = 16
	TokenSweep           = time.Second
	ShutdownTimeout      = 5 * time.Second
	BoardFileBytes       = 256 << 10
	BoardPins            = 1024
	SimNameBytes         = 64
	RefusedConnsReported = time.Second
)

// Bounds on the machine that runs guest code.
const (
	VMHeapLeast       = 64 << 10
	VMHeapDefault     = 1 << 20
	VMHeapMax         = 64 << 20
	VMDataBytes       = 256 << 20
	VMStackBytes      = 512 << 10
	HeartbeatPeriod   = 500 * time.Millisecond
	HeartbeatWarning  = 1500 * time.Millisecond
	HeartbeatSilence  = 2 * time.Second
	VMStartTimeout    = 30 * time.Second
	FrameBytes        = 128 << 10
	RingBytes         = 256 << 10 // a power of two
	PostedCalls       = 256
	RingPause         = 100 * time.Microsecond
	VainWakes         = 64
	VMOpenFiles       = 32
	VMReaders         = 3       // machines at work
	FlashBytes        = 4 << 20 // all files in /flash
	FlashFiles        = 512
	FileBytes         = 1 << 20
	FileNameBytes     = 255
	FileChunk         = 128 << 10 // of one fs request
	FileUploads       = 4
	FlashSync         = time.Second
	PathBytes         = 1 << 10
	ExceptionBytes    = 16 << 10 // of its message, and of its traceback
	VMRespawnFirst    = 100 * time.Millisecond
	VMRespawnLongest  = 5 * time.Second
	OutputChunk       = 4 << 10
	OutputFlushPeriod = 20 * time.Millisecond
	VMWriteTimeout    = time.Second
	SpinWait          = 50 * time.Microsecond
	SpinRest          = 32
	VMStderrBytes     = 4 << 10
	VMExitWait        = 100 * time.Millisecond
	HeartbeatFlood    = 64 // in one second, after a guard's own stall of half a minute at the usual period
)

// Bounds on outputs.
const (
	TripSampling = 10 * time.Millisecond
	DriveTimeout = 50 * time.Millisecond
	PinWatchers  = 64 // of one pin
	PWMHz        = 40_000_000
)

// Bounds on buses, counters and timed protocols.
const (
	BusBytes         = 64 << 10 // each way, in one transfer
	BusSettingsBytes = 1 << 10
	BusTransferTime  = 10 * time.Second
	BusSlack         = 50 * time.Millisecond // a transfer may take so much longer than twice its bits
	BusGrace         = 40 * time.Millisecond // for a driver to come back from what was cancelled, and again for a recovery
	I2CHz            = 5_000_000
	SPIHz            = 80_000_000
	UARTBaud         = 5_000_000
	Counters         = 16
	BitstreamBytes   = 4 << 10
	BitstreamTime    = 45 * time.Millisecond
	OneWireBytes     = 256
)

// Bounds on what a board file may say.
const (
	BoardLineBytes = 1024 // one line
	BoardNesting   = 16   // brackets in brackets
	BoardTextBytes = 256  // a note or a port
	PinIDBytes     = 16
	ScaleBytes     = 256
	RuleLongest    = 24 * time.Hour
	RateChanges    = 1000 // of max_rate
	TripLongest    = time.Minute
)

// Bounds on carriers and on clients.
const (
	MessageDrainBytes = 4 << 20                // an oversized message is skipped up to here, then the connection ends
	ConnCloseTimeout  = 500 * time.Millisecond // to say goodbye before the socket is cut
	DialTimeout       = 10 * time.Second
	PipeQueue         = 8 // messages under way in an in-memory connection
	HTTPHeaderBytes   = 8 << 10
	HTTPIdleTimeout   = 30 * time.Second
	HTTPRefusalBytes  = 512                    // text of a refused handshake that a client shows
	UnidentifiedGrace = 250 * time.Millisecond // then a socket without an identity yields to a newcomer
	Refusals          = 16                     // sockets being told that the listener is full
	RefusalTimeout    = 200 * time.Millisecond
	InterruptWait     = time.Second // a client waits so long for the result of what it interrupted
	StateFileBytes    = 64 << 10
)

// Bounds on commands.
const (
	StopPatience  = 10 * time.Second       // `pal stop` tries so long to get past a busy door
	StopRetry     = 100 * time.Millisecond // between its tries
	PinsWatch     = 200 * time.Millisecond // between two looks of `pal pins --watch`
	TypeAheadSize = 64 << 10               // bytes typed into the REPL while code runs
	HistoryLines  = 1000                   // of the REPL, kept in the state folder
)

// Bounds on tasks.
const (
	TasksDefault       = 20
	TasksMax           = 256
	TaskPeriodLeast    = 10 * time.Millisecond
	TaskPeriodLongest  = 366 * 24 * time.Hour
	TaskTimeoutDefault = 10 * time.Second
	TaskFailures       = 5 // in a row, then it is paused
	TaskResults        = 16
	TaskMissed         = 16 // runs made up for after a loss of power, with misfire all
	TaskNapLongest     = time.Minute
	TaskLateness       = 4096 // newest samples of each task that its figures are of
	CronBytes          = 128
	TasksEnded         = 16 // that are still shown
	TaskIDs            = 16 // written to disk as used at once
	TaskMarkEvery      = time.Minute
	TaskMissedCounted  = 200 // of cron, in one look
	TaskMarkReason     = 80  // bytes
	TaskNewestEvery    = time.Hour
	TaskJitter         = time.Minute
	TaskEventEvery     = time.Second
	TaskClockStep      = time.Second
	TaskClockBack      = 3 * time.Hour
	ClockLeastYear     = 2026
	TaskYearsEnd       = 2200
)

// Bounds on leases and approvals.
const (
	LeaseDefault    = time.Minute
	LeaseLongest    = 24 * time.Hour
	Leases          = 256
	ApprovalLife    = 5 * time.Minute
	Approvals       = 32 // waiting
	ApprovalsActor  = 8  // of one actor
	ApprovalsKept   = 256
	ApprovalAsks    = 20 // of one actor in ApprovalLife, whatever became of them
	ApprovalLines   = 60 // of code shown to a person
	ApprovalColumns = 160
)

// Bounds on what is kept on disk.
const (
	AuditSync           = time.Second
	AuditSigned         = time.Minute
	AuditPatience       = time.Second
	DenialsTold         = 8 // in a second
	AuditEntryBytes     = 64 << 10
	AuditCodeBytes      = 16 << 10
	AuditAnswerBytes    = 1 << 10 // of each stream
	AuditSegmentBytes   = 4 << 20
	AuditSegmentLongest = 8 << 20
	AuditSegments       = 64 // full ones
	AuditReplay         = 32 << 20
	AuditSegmentLeast   = 16 << 10
	AuditCheckpoint     = 256 // entries between two
	AuditReserve        = 1 << 20
	AuditRetry          = time.Second
	AuditQueue          = 4096 // lazy entries that wait while the disk is slow
	AuditPage           = 1000 // entries of one answer
	RecordBytes         = 256 << 10
	LatchBytes          = 512
)

// Bounds on the start and on supervision.
const (
	FailedStarts  = 4
	StableAfter   = 30 * time.Second
	GuardWatchdog = 10 * time.Second
	NetworkSweep  = 2 * time.Second
)
