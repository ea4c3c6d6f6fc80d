package table

import "github.com/pal-terminal/pal/limits"

func machine() []Bound {
	return []Bound{
		size("VMHeapLeast", limits.VMHeapLeast, "below it MicroPython does not start", "the setting is refused"),
		size("VMHeapDefault", limits.VMHeapDefault, "like a good microcontroller with external memory", "MemoryError in Python"),
		size("VMHeapMax", limits.VMHeapMax, "the machine must stay replaceable in milliseconds", "the setting is refused"),
		size("VMDataBytes", limits.VMDataBytes, "the whole process: engine, compiled code and heap; grows with a larger heap", "the process dies; vm_restarted"),
		size("VMStackBytes", limits.VMStackBytes, "MicroPython's own C stack: deep enough for real programs", "RuntimeError in Python"),
		span("HeartbeatPeriod", limits.HeartbeatPeriod, "four beats fit the allowed silence", "not a limit: the period of the beat"),
		span("HeartbeatWarning", limits.HeartbeatWarning, "observers learn of trouble before it is acted on", "event watchdog_warning"),
		span("HeartbeatSilence", limits.HeartbeatSilence, "the specification's 2 to 5 s, the quick end", "the machine is killed and replaced; event core1_restarted"),
		span("VMStartTimeout", limits.VMStartTimeout, "the first start compiles the engine, on slow boards for many seconds", "the start counts as failed and is tried again"),
		size("FrameBytes", limits.FrameBytes, "code with its escapes, or a full stream, in one record", "the machine broke its contract and is killed"),
		size("RingBytes", limits.RingBytes, "records on their way in one direction, two of the longest; a power of two", "the writer waits for room, the guard VMWriteTimeout at most"),
		count("PostedCalls", limits.PostedCalls, "calls", "writes that nobody waits for; the guard must have done them before it hears of anything else, also behind a slow driver", "the program waits until all are done"),
		span("RingPause", limits.RingPause, "a full ring is looked at again so soon", "not a limit: the period of the look"),
		count("VainWakes", limits.VainWakes, "wake-ups in a row", "one may come for nothing, many only keep the guard awake", "the machine broke its contract and is killed"),
		count("VMReaders", limits.VMReaders, "processors of Go's scheduler beyond the cores", "one for each goroutine that waits for a machine: tasks started up to 10 ms late without them", "not a limit: what is set"),
		count("VMOpenFiles", limits.VMOpenFiles, "files", "descriptors of the process, and files that a program holds open", "EMFILE in Python"),
		size("FlashBytes", limits.FlashBytes, "all files of a program together; they live in memory", "ENOSPC in Python"),
		count("FlashFiles", limits.FlashFiles, "files", "a folder tree costs memory too", "ENOSPC in Python"),
		size("FileBytes", limits.FileBytes, "one file of a program", "ENOSPC in Python"),
		size("FileNameBytes", limits.FileNameBytes, "what the file systems of computers take", "ENAMETOOLONG in Python"),
		size("FileChunk", limits.FileChunk, "base64 of it fits a message", "too_large; get gives less"),
		count("FileUploads", limits.FileUploads, "files", "files that clients send in parts wait in memory", "the one not heard of for longest is dropped"),
		span("FlashSync", limits.FlashSync, "what a power cut may cost a program that does not ask for more", "not a limit: the period of the sync"),
		size("PathBytes", limits.PathBytes, "no real path is longer", "ENAMETOOLONG in Python"),
		size("ExceptionBytes", limits.ExceptionBytes, "an exception's message, and its traceback; both fit one record beside a value", "cut between two characters"),
		span("VMRespawnFirst", limits.VMRespawnFirst, "a machine that dies at its start must not keep a core busy", "not a limit: doubles with every failure"),
		span("VMRespawnLongest", limits.VMRespawnLongest, "a terminal whose fault is cured recovers within seconds", "the wait grows no longer"),
		size("OutputChunk", limits.OutputChunk, "a record of printed text: few records for much text", "the next record begins"),
		span("OutputFlushPeriod", limits.OutputFlushPeriod, "streamed text appears while a person watches", "what was printed is sent"),
		span("VMWriteTimeout", limits.VMWriteTimeout, "a machine that stops reading must not hold up the guard", "the machine is killed and replaced"),
		span("SpinWait", limits.SpinWait, "a hardware call is answered sooner than a sleeping thread wakes; both sides look for it this long before they sleep", "the thread sleeps until something comes"),
		count("SpinRest", limits.SpinRest, "waits", "looking was in vain, so the other side is busy or has no core", "the next waits sleep at once"),
		size("VMStderrBytes", limits.VMStderrBytes, "a crashed machine's last words, for the log", "the middle is left out"),
		span("VMExitWait", limits.VMExitWait, "tells a process that ended from one that only closed its channel", "killed"),
		count("HeartbeatFlood", limits.HeartbeatFlood, "beats in 1 s", "beats saved up while the guard stood still are honest, more are an attack", "the machine is killed and replaced"),
	}
}

func outputs() []Bound {
	return append([]Bound{
		span("TripSampling", limits.TripSampling, "how late a trip sees its condition", "not a limit: the period of the look"),
		span("DriveTimeout", limits.DriveTimeout, "one stuck driver must not delay the rest, above all not a stop", "the output counts as faulty and as on for its interlocks"),
		count("PinWatchers", limits.PinWatchers, "watchers", "an edge is handed to each of them in turn", "the watch is refused with conflict"),
		count("PWMHz", limits.PWMHz, "Hz", "half of the fastest clock of the boards in view; keeps the arithmetic of on-times in 64 bits", "OSError EINVAL"),
	}, buses()...)
}

func carriers() []Bound {
	return []Bound{
		size("MessageDrainBytes", limits.MessageDrainBytes, "an oversized message is skipped, so that the next one can be answered", "the connection ends"),
		span("ConnCloseTimeout", limits.ConnCloseTimeout, "to say goodbye", "the socket is cut"),
		span("DialTimeout", limits.DialTimeout, "a client waits so long for a terminal to answer", "the command fails"),
		count("PipeQueue", limits.PipeQueue, "messages", "under way in an in-memory connection, like a socket's buffer", "the writer waits"),
		size("HTTPHeaderBytes", limits.HTTPHeaderBytes, "a handshake is short", "the handshake is refused"),
		span("HTTPIdleTimeout", limits.HTTPIdleTimeout, "a kept-alive HTTP connection holds a place", "closed"),
		size("HTTPRefusalBytes", limits.HTTPRefusalBytes, "what a client shows of a refused handshake", "cut"),
		span("UnidentifiedGrace", limits.UnidentifiedGrace, "a handshake takes milliseconds", "a stranger's socket yields its place to a newcomer"),
		count("Refusals", limits.Refusals, "sockets", "being told that the listener is full", "cut without a word"),
		span("RefusalTimeout", limits.RefusalTimeout, "telling a peer that there is no room must not take a place for long", "cut"),
		span("InterruptWait", limits.InterruptWait, "a client that interrupted its program waits so long for the result", "the command ends without it"),
		size("StateFileBytes", limits.StateFileBytes, "address and token of a terminal, as the commands read them", "the command fails"),
	}
}

func commands() []Bound {
	return []Bound{
		span("StopPatience", limits.StopPatience, "pal stop tries so long to get past a busy door", "the command fails, and says that the outputs are not known to be safe"),
		span("StopRetry", limits.StopRetry, "between two tries of pal stop", "not a limit: the period of the tries"),
		span("PinsWatch", limits.PinsWatch, "between two looks of pal pins --watch", "not a limit: the period of the look"),
		size("TypeAheadSize", limits.TypeAheadSize, "typed into the REPL while code runs", "what comes after is lost"),
		count("HistoryLines", limits.HistoryLines, "lines", "of the REPL, kept in the state folder", "the oldest are dropped"),
	}
}
