package table

import "github.com/pal-terminal/pal/limits"

func running() []Bound {
	return []Bound{
		span("ExecTimeoutDefault", limits.ExecTimeoutDefault, "the specification's default: long enough for a bench task, short enough to wait for",
			"interrupted, then killed; result deadline"),
		span("MaxExecDefault", limits.MaxExecDefault, "a board that says nothing allows no more than the default", "timeout_ms above the board's max_exec is bad_request"),
		span("MaxExecCeiling", limits.MaxExecCeiling, "a board file may allow longer programs, but none without an end", "the board file is refused"),
		span("InterruptGrace", limits.InterruptGrace, "time for a program's finally blocks after KeyboardInterrupt", "the machine is killed and replaced"),
		span("HandlerTimeout", limits.HandlerTimeout, "an interrupt handler in an idle machine must not hold up the next request", "interrupted like a program past its deadline"),
		span("BoardInitTimeout", limits.BoardInitTimeout, "board.py defines functions and should do little else", "it is interrupted: its names are missing, and event board_error says so"),
		size("CodeBytes", limits.CodeBytes, "far above what an agent writes in one step; holds copies in memory down", "too_large"),
		size("OutputDefault", limits.OutputDefault, "the specification's bound, what a model can use of an answer; stdout and stderr apart",
			"cut between characters; truncated and dropped_bytes say so"),
		size("OutputMax", limits.OutputMax, "the most that max_output may ask for, so that both streams fit one message", "max_output is bad_request"),
		count("SessionsPerActor", limits.SessionsPerActor, "sessions", "each session keeps its names in one shared heap", "the least recently used is dropped, with an event"),
		count("SessionsDropped", limits.SessionsDropped, "sessions", "what one job tells the machine to forget must fit its record", "the next job tells the rest"),
		size("SessionNameBytes", limits.SessionNameBytes, "a name, not a document", "too_large"),
		count("EffectsKept", limits.EffectsKept, "effects", "a program can toggle a pin many thousand times", "effects_count counts all, the list has the first"),
		count("EdgeQueue", limits.EdgeQueue, "edges", "a bouncing button must not fill memory while the machine is busy", "further edges are lost and counted"),
		count("Timers", limits.Timers, "timers", "a machine with more has lost count; each wakes the guard", "full, OSError in Python"),
		span("TimerLeast", limits.TimerLeast, "MicroPython's finest timer; finer ones would keep the guard busy", "OSError in Python; one-shot timers wait this long"),
		span("TimerLongest", limits.TimerLongest, "a machine seldom lives longer, and no arithmetic overflows", "OSError in Python"),
		count("SessionTools", limits.SessionTools, "tools", "a model loses its way among more; their text is kept", "full, OSError in Python"),
		count("Watches", limits.Watches, "watches", "each costs the connection events", "full"),
		count("WatchesTerminal", limits.WatchesTerminal, "watches", "analogue ones are sampled by the guard", "full"),
		count("WatchRate", limits.WatchRate, "events of one watch in a second", "a bouncing contact must not fill the ring", "counted in missed of the next"),
		span("WatchSampling", limits.WatchSampling, "slow against a trip, quick for a person", "not a limit: the period of the look"),
		count("FileRequests", limits.FileRequests, "requests", "changes of files wait for one disk, and never for each other's connections", "busy"),
	}
}

func messages() []Bound {
	return []Bound{
		size("MessageBytes", limits.MessageBytes, "room for the largest code with its escapes, and for both streams of a result",
			"too_large, the connection stays up; an answer loses the ends of its texts"),
		size("ForwardBytes", limits.ForwardBytes, "a whole message as a JSON string inside another", "too_large"),
		count("JSONDepth", limits.JSONDepth, "levels", "no message nests deeper than a few; deep nesting is an attack on recursive readers", "bad_json"),
		size("IDBytes", limits.IDBytes, "an id is remembered for a day and echoed everywhere", "too_large, answered without id"),
		size("NameBytes", limits.NameBytes, "names stand in tables, logs and audit lines", "too_large"),
		size("ReasonBytes", limits.ReasonBytes, "a sentence for the record; also the longest message of a refusal", "too_large; that of a stop is cut, as a refusal's own text is"),
		size("EventNameBytes", limits.EventNameBytes, "a name, not a document", "too_large in a request, OSError EINVAL in Python"),
		size("EventDataBytes", limits.EventDataBytes, "the ring keeps a thousand of them", "the event is refused, OSError EINVAL in Python"),
		size("MetaBytes", limits.MetaBytes, "carried through audit and results untouched", "too_large"),
		size("CredentialBytes", limits.CredentialBytes, "a token has 47 bytes; room for other kinds", "too_large, or not found"),
		count("ListItems", limits.ListItems, "items", "scopes, framings and event names are few", "too_large"),
		count("DedupIDs", limits.DedupIDs, "ids", "enough for a day of busy clients at about 100 bytes each", "the oldest are forgotten, and may run again"),
		size("DedupBytes", limits.DedupBytes, "stored answers of all clients together", "the oldest answers are dropped; their ids answer expired and do not run"),
		size("DedupStreamKept", limits.DedupStreamKept, "a repeated answer serves a client that lost the first one, not an archive", "the stored stream is cut, and says so"),
		span("DedupWindow", limits.DedupWindow, "longer than any client keeps retrying", "the id is forgotten, and may run again"),
	}
}

func connections() []Bound {
	return []Bound{
		count("Connections", limits.Connections, "connections", "a terminal serves a bench or a machine, not the public", "refused quickly with busy, and an event"),
		count("ConnectionsReserved", limits.ConnectionsReserved, "connections", "stop must get in when everything is taken", "refused like the others"),
		span("ReservedLife", limits.ReservedLife, "a reserved connection says stop or status and goes", "closed"),
		span("HelloTimeout", limits.HelloTimeout, "a peer without an identity must not hold a place", "closed"),
		count("RequestsPerConn", limits.RequestsPerConn, "requests", "pipelining without a backlog that outlives its purpose", "busy at once"),
		count("RequestsPerTerminal", limits.RequestsPerTerminal, "requests", "one program runs at a time: what waits longer is stale", "busy at once"),
		count("ConnWriteQueue", limits.ConnWriteQueue, "messages", "a slow reader must not hold up the terminal", "the connection is cut"),
		span("ConnWriteTimeout", limits.ConnWriteTimeout, "a peer that reads nothing is gone", "the connection is cut"),
		count("GraveEvents", limits.GraveEvents, "events", "room for boot, estop, trip and their like, which no flood of other events may wash away", "the oldest are dropped"),
		count("EventRing", limits.EventRing, "events", "what a client can catch up on after a reconnect", "the oldest are dropped"),
		count("ObserverQueue", limits.ObserverQueue, "events", "an observer may pause, not hold up the rest", "the oldest are dropped and counted in dropped"),
		count("AdmissionQueue", limits.AdmissionQueue, "steps", "more than all connections can have under way", "the sender's connection waits"),
		count("Tokens", limits.Tokens, "tokens", "every lookup compares with all of them", "full"),
		count("Unidentified", limits.Unidentified, "connections", "peers that have not said who they are yet share few places", "refused quickly, or the oldest stranger yields"),
		span("TokenSweep", limits.TokenSweep, "how late a connection may be cut after its token's end", "not a limit: the period of the look"),
		span("ShutdownTimeout", limits.ShutdownTimeout, "a supervisor waits for a clean end; outputs are safe at its start", "the process ends anyway"),
		size("BoardFileBytes", limits.BoardFileBytes, "a board with a thousand pins fits", "the board file is refused"),
		count("BoardPins", limits.BoardPins, "pins", "handles are small numbers and tables stay readable", "the board file is refused"),
		size("SimNameBytes", limits.SimNameBytes, "names and values of the simulated world are short", "too_large, or the board file is refused"),
		span("RefusedConnsReported", limits.RefusedConnsReported, "a flood of connections must not become a flood of events", "one event counts all of that time"),
	}
}
