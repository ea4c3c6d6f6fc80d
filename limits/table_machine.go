package limits

func machine() []Bound {
	return []Bound{
		size("VMHeapLeast", VMHeapLeast, "below it MicroPython does not start", "the setting is refused"),
		size("VMHeapDefault", VMHeapDefault, "like a good microcontroller with external memory", "MemoryError in Python"),
		size("VMHeapMax", VMHeapMax, "the machine must stay replaceable in milliseconds", "the setting is refused"),
		size("VMDataBytes", VMDataBytes, "the whole process: engine, compiled code and heap; grows with a larger heap", "the process dies; vm_restarted"),
		size("VMStackBytes", VMStackBytes, "MicroPython's own C stack: deep enough for real programs", "RuntimeError in Python"),
		size("VMUnwindBytes", VMUnwindBytes, "room to save the engine's state when it has to stop in the middle", "the machine is killed and replaced"),
		span("HeartbeatPeriod", HeartbeatPeriod, "four beats fit the allowed silence", "not a limit: the period of the beat"),
		span("HeartbeatWarning", HeartbeatWarning, "observers learn of trouble before it is acted on", "event watchdog_warning"),
		span("HeartbeatSilence", HeartbeatSilence, "the specification's 2 to 5 s, the quick end", "the machine is killed and replaced; event core1_restarted"),
		span("VMStartTimeout", VMStartTimeout, "the first start compiles the engine, on slow boards for many seconds", "the start counts as failed and is tried again"),
		size("FrameBytes", FrameBytes, "code with its escapes, or a full stream, in one record", "the machine broke its contract and is killed"),
		count("VMOpenFiles", VMOpenFiles, "files", "descriptors of the process, and files that a program holds open", "EMFILE in Python"),
		size("FlashBytes", FlashBytes, "all files of a program together; they live in memory", "ENOSPC in Python"),
		count("FlashFiles", FlashFiles, "files", "a folder tree costs memory too", "ENOSPC in Python"),
		size("FileBytes", FileBytes, "one file of a program", "EFBIG in Python"),
		span("VMRespawnFirst", VMRespawnFirst, "a machine that dies at its start must not keep a core busy", "not a limit: doubles with every failure"),
		span("VMRespawnLongest", VMRespawnLongest, "a terminal whose fault is cured recovers within seconds", "the wait grows no longer"),
		size("OutputChunk", OutputChunk, "a record of printed text: few records for much text", "the next record begins"),
		span("OutputFlushPeriod", OutputFlushPeriod, "streamed text appears while a person watches", "what was printed is sent"),
		span("VMWriteTimeout", VMWriteTimeout, "a machine that stops reading must not hold up the guard", "the machine is killed and replaced"),
		size("VMStderrBytes", VMStderrBytes, "a crashed machine's last words, for the log", "the middle is left out"),
		span("VMExitWait", VMExitWait, "tells a process that ended from one that only closed its channel", "killed"),
		count("HeartbeatFlood", HeartbeatFlood, "beats in 1 s", "beats saved up while the guard stood still are honest, more are an attack", "the machine is killed and replaced"),
	}
}

func outputs() []Bound {
	return []Bound{
		span("TripSampling", TripSampling, "how late a trip sees its condition", "not a limit: the period of the look"),
		span("DriveTimeout", DriveTimeout, "one stuck driver must not delay the rest, above all not a stop", "the output counts as faulty and as on for its interlocks"),
	}
}

func carriers() []Bound {
	return []Bound{
		size("MessageDrainBytes", MessageDrainBytes, "an oversized message is skipped, so that the next one can be answered", "the connection ends"),
		span("ConnCloseTimeout", ConnCloseTimeout, "to say goodbye", "the socket is cut"),
		span("DialTimeout", DialTimeout, "a client waits so long for a terminal to answer", "the command fails"),
		count("PipeQueue", PipeQueue, "messages", "under way in an in-memory connection, like a socket's buffer", "the writer waits"),
		size("HTTPHeaderBytes", HTTPHeaderBytes, "a handshake is short", "the handshake is refused"),
		span("HTTPIdleTimeout", HTTPIdleTimeout, "a kept-alive HTTP connection holds a place", "closed"),
		size("HTTPRefusalBytes", HTTPRefusalBytes, "what a client shows of a refused handshake", "cut"),
		span("UnidentifiedGrace", UnidentifiedGrace, "a handshake takes milliseconds", "a stranger's socket yields its place to a newcomer"),
		count("Refusals", Refusals, "sockets", "being told that the listener is full", "cut without a word"),
		span("RefusalTimeout", RefusalTimeout, "telling a peer that there is no room must not take a place for long", "cut"),
		span("InterruptWait", InterruptWait, "a client that interrupted its program waits so long for the result", "the command ends without it"),
		size("StateFileBytes", StateFileBytes, "address and token of a terminal, as the commands read them", "the command fails"),
	}
}

func commands() []Bound {
	return []Bound{
		span("StopPatience", StopPatience, "pal stop tries so long to get past a busy door", "the command fails, and says that the outputs are not known to be safe"),
		span("StopRetry", StopRetry, "between two tries of pal stop", "not a limit: the period of the tries"),
		span("PinsWatch", PinsWatch, "between two looks of pal pins --watch", "not a limit: the period of the look"),
		size("TypeAheadSize", TypeAheadSize, "typed into the REPL while code runs", "what comes after is lost"),
		count("HistoryLines", HistoryLines, "lines", "of the REPL, kept in the state folder", "the oldest are dropped"),
	}
}
