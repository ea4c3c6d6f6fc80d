package limits

func running() []Bound {
	return []Bound{
		span("ExecTimeoutDefault", ExecTimeoutDefault, "the specification's default: long enough for a bench task, short enough to wait for",
			"interrupted, then killed; result deadline"),
		span("MaxExecDefault", MaxExecDefault, "a board that says nothing allows no more than the default", "timeout_ms above the board's max_exec is bad_request"),
		span("MaxExecCeiling", MaxExecCeiling, "a board file may allow longer programs, but none without an end", "the board file is refused"),
		span("InterruptGrace", InterruptGrace, "time for a program's finally blocks after KeyboardInterrupt", "the machine is killed and replaced"),
		span("HandlerTimeout", HandlerTimeout, "an interrupt handler in an idle machine must not hold up the next request", "interrupted like a program past its deadline"),
		span("BoardInitTimeout", BoardInitTimeout, "board.py defines functions and should do little else", "the board does not start; the error says so"),
		size("CodeBytes", CodeBytes, "far above what an agent writes in one step; holds copies in memory down", "too_large"),
		size("OutputDefault", OutputDefault, "the specification's bound, what a model can use of an answer; stdout and stderr apart",
			"cut between characters; truncated and dropped_bytes say so"),
		size("OutputMax", OutputMax, "the most that max_output may ask for, so that both streams fit one message", "max_output is bad_request"),
		count("SessionsPerActor", SessionsPerActor, "sessions", "each session keeps its names in one shared heap", "the least recently used is dropped, with an event"),
		size("SessionNameBytes", SessionNameBytes, "a name, not a document", "too_large"),
		count("EffectsKept", EffectsKept, "effects", "a program can toggle a pin many thousand times", "effects_count counts all, the list has the first"),
		count("EdgeQueue", EdgeQueue, "edges", "a bouncing button must not fill memory while the machine is busy", "further edges are lost and counted"),
	}
}

func messages() []Bound {
	return []Bound{
		size("MessageBytes", MessageBytes, "room for the largest code with its escapes, and for both streams of a result",
			"too_large, the connection stays up; an answer loses the ends of its texts"),
		size("ForwardBytes", ForwardBytes, "a whole message as a JSON string inside another", "too_large"),
		count("JSONDepth", JSONDepth, "levels", "no message nests deeper than a few; deep nesting is an attack on recursive readers", "bad_json"),
		size("IDBytes", IDBytes, "an id is remembered for a day and echoed everywhere", "too_large, answered without id"),
		size("NameBytes", NameBytes, "names stand in tables, logs and audit lines", "too_large"),
		size("ReasonBytes", ReasonBytes, "a sentence for the record; also the longest message of a refusal", "too_large; a refusal's own text is cut"),
		size("EventNameBytes", EventNameBytes, "a name, not a document", "too_large in a request, OSError EINVAL in Python"),
		size("EventDataBytes", EventDataBytes, "the ring keeps a thousand of them", "the event is refused, OSError EINVAL in Python"),
		size("MetaBytes", MetaBytes, "carried through audit and results untouched", "too_large"),
		size("CredentialBytes", CredentialBytes, "a token has 47 bytes; room for other kinds", "too_large, or not found"),
		count("ListItems", ListItems, "items", "scopes, framings and event names are few", "too_large"),
		count("DedupIDs", DedupIDs, "ids", "enough for a day of busy clients at about 100 bytes each", "the oldest are forgotten, and may run again"),
		size("DedupBytes", DedupBytes, "stored answers of all clients together", "the oldest answers are dropped; their ids answer expired and do not run"),
		size("DedupStreamKept", DedupStreamKept, "a repeated answer serves a client that lost the first one, not an archive", "the stored stream is cut, and says so"),
		span("DedupWindow", DedupWindow, "longer than any client keeps retrying", "the id is forgotten, and may run again"),
	}
}

func connections() []Bound {
	return []Bound{
		count("Connections", Connections, "connections", "a terminal serves a bench or a machine, not the public", "refused quickly with busy, and an event"),
		count("ConnectionsReserved", ConnectionsReserved, "connections", "stop must get in when everything is taken", "refused like the others"),
		span("ReservedLife", ReservedLife, "a reserved connection says stop or status and goes", "closed"),
		span("HelloTimeout", HelloTimeout, "a peer without an identity must not hold a place", "closed"),
		count("RequestsPerConn", RequestsPerConn, "requests", "pipelining without a backlog that outlives its purpose", "busy at once"),
		count("RequestsPerTerminal", RequestsPerTerminal, "requests", "one program runs at a time: what waits longer is stale", "busy at once"),
		count("ConnWriteQueue", ConnWriteQueue, "messages", "a slow reader must not hold up the terminal", "the connection is cut"),
		span("ConnWriteTimeout", ConnWriteTimeout, "a peer that reads nothing is gone", "the connection is cut"),
		count("EventRing", EventRing, "events", "what a client can catch up on after a reconnect", "the oldest are dropped"),
		count("ObserverQueue", ObserverQueue, "events", "an observer may pause, not hold up the rest", "the oldest are dropped and counted in dropped"),
		count("AdmissionQueue", AdmissionQueue, "steps", "more than all connections can have under way", "the sender's connection waits"),
		count("Tokens", Tokens, "tokens", "every lookup compares with all of them", "full"),
		count("Unidentified", Unidentified, "connections", "peers that have not said who they are yet share few places", "refused quickly, or the oldest stranger yields"),
		span("TokenSweep", TokenSweep, "how late a connection may be cut after its token's end", "not a limit: the period of the look"),
		span("ShutdownTimeout", ShutdownTimeout, "a supervisor waits for a clean end; outputs are safe at its start", "the process ends anyway"),
		size("BoardFileBytes", BoardFileBytes, "a board with a thousand pins fits", "the board file is refused"),
		count("BoardPins", BoardPins, "pins", "handles are small numbers and tables stay readable", "the board file is refused"),
		size("SimNameBytes", SimNameBytes, "names and values of the simulated world are short", "too_large, or the board file is refused"),
		span("RefusedConnsReported", RefusedConnsReported, "a flood of connections must not become a flood of events", "one event counts all of that time"),
	}
}
