package table

import "github.com/pal-terminal/pal/limits"

func tasks() []Bound {
	return []Bound{
		count("TasksDefault", limits.TasksDefault, "tasks", "the specification's number; a setting raises it", "full"),
		count("TasksMax", limits.TasksMax, "tasks", "the manager looks at every task at every turn", "the setting is refused"),
		span("TaskPeriodLeast", limits.TaskPeriodLeast, "a run and its way through the guard fit several times over", "bad_request"),
		span("TaskPeriodLongest", limits.TaskPeriodLongest, "yearly; a longer one is a date", "bad_request"),
		span("TaskTimeoutDefault", limits.TaskTimeoutDefault, "long enough for slow sensors, short enough that the other tasks are not late for long", "the run is ended like an exec past its deadline"),
		count("TaskFailures", limits.TaskFailures, "failures in a row", "what fails so often does not mend itself", "the task is paused, its outputs made safe; event task_paused"),
		count("TaskResults", limits.TaskResults, "results", "enough to see what happened lately", "the oldest is dropped"),
		count("TaskMissed", limits.TaskMissed, "runs", "a night without power must not be made up for in one burst", "older ones are counted as missed"),
		span("TaskNapLongest", limits.TaskNapLongest, "the clock may have been set while the manager slept", "not a limit: the longest time between two looks"),
		count("TaskLateness", limits.TaskLateness, "runs", "enough for a stable 99th percentile", "figures are of the newest"),
		size("CronBytes", limits.CronBytes, "five fields and their lists", "bad_request"),
		count("TasksEnded", limits.TasksEnded, "tasks", "what came of a one-shot can be looked up for a while", "the one that ended first is forgotten"),
		count("TaskIDs", limits.TaskIDs, "ids", "one write serves so many registrations", "not a limit: after a crash, ids go on above those written"),
		span("TaskMarkEvery", limits.TaskMarkEvery, "a disk lasts for years when it is written once a minute", "not a limit: due times of that long may count as missed once more after a loss of power"),
		count("TaskMissedCounted", limits.TaskMissedCounted, "due times", "counting years of minutes would hold up the start", "of those further back not each is counted"),
		span("TaskNewestEvery", limits.TaskNewestEvery, "a clock that starts further back is noticed", "not a limit: how old the newest time on disk may be"),
		size("TaskMarkReason", limits.TaskMarkReason, "the state of all tasks fits one record, whatever they say", "the reason of a pause is cut when the terminal starts again"),
		span("TaskJitter", limits.TaskJitter, "what is due each minute must not overtake itself; of an interval, less than itself", "bad_request"),
		span("TaskEventEvery", limits.TaskEventEvery, "a task of every 10 ms must not wash all others' events out of the ring", "one event counts the runs of that time"),
		span("TaskClockStep", limits.TaskClockStep, "slewing never makes a second at once, setting a clock nearly always does", "due times are derived anew from the wall clock"),
		span("TaskClockBack", limits.TaskClockBack, "as cron daemons have it: a correction, not another day", "a cron time that comes again is run again"),
		count("ClockLeastYear", limits.ClockLeastYear, "year", "this was written then", "an earlier clock is not set: cron and at wait for it"),
		count("TaskYearsEnd", limits.TaskYearsEnd, "year", "times and their differences fit 64 bits", "bad_request; a clock past it is not set"),
	}
}

func leases() []Bound {
	return []Bound{
		span("LeaseDefault", limits.LeaseDefault, "a client that lives renews it several times in that time", "the outputs are made safe; event lease_expired"),
		span("LeaseLongest", limits.LeaseLongest, "nobody holds a board for ever by mistake", "bad_request"),
		count("Leases", limits.Leases, "leases", "more than a board has outputs worth leasing", "full"),
		span("ApprovalLife", limits.ApprovalLife, "a person answers within minutes, and the world is another one later", "expired: the drive is asked for anew"),
		count("Approvals", limits.Approvals, "waiting drives", "a person must be able to read them", "the drive is refused with full"),
		count("ApprovalsActor", limits.ApprovalsActor, "waiting drives of one actor", "one actor must not bury the others' among its own", "the drive is refused with full"),
		count("ApprovalsKept", limits.ApprovalsKept, "drives, decided ones included", "what was decided lately can be looked up", "the oldest decided one is dropped"),
		count("ApprovalAsks", limits.ApprovalAsks, "drives of one actor in ApprovalLife", "people who are asked all the time say yes to all", "the drive is refused with full"),
		count("ApprovalLines", limits.ApprovalLines, "lines", "what a person looks through before deciding", "the middle is left out, and that is said"),
		count("ApprovalColumns", limits.ApprovalColumns, "characters of a line", "two rows of a terminal", "the middle is left out, and that is said"),
	}
}

func disk() []Bound {
	return []Bound{
		span("AuditSigned", limits.AuditSigned, "what was done is signed soon, also when little is done", "not a limit: a checkpoint is written when anything was"),
		span("AuditPatience", limits.AuditPatience, "a disk under load takes a tenth of that; who waits may be the reader of a stop", "storage: the request is not carried out"),
		count("DenialsTold", limits.DenialsTold, "events in a second", "a program that is refused in a loop must not wash everything else away", "refusals are counted and told with the next"),
		span("AuditSync", limits.AuditSync, "outcomes of tasks and events wait so long at most for the disk", "not a limit: a loss of power takes that much with it"),
		size("AuditEntryBytes", limits.AuditEntryBytes, "one entry with code, effects and answer", "texts in it are cut, with their length"),
		size("AuditCodeBytes", limits.AuditCodeBytes, "nearly every program in full; the hash is of all of it", "the code is cut in the entry"),
		size("AuditAnswerBytes", limits.AuditAnswerBytes, "the first lines of each stream", "cut in the entry, truncated is set"),
		size("AuditSegmentBytes", limits.AuditSegmentBytes, "some ten thousand entries, verified in a moment", "a new segment begins"),
		size("AuditSegmentLongest", limits.AuditSegmentLongest, "a segment and the largest batch behind its end", "a file that is longer is none of the log's"),
		count("AuditSegments", limits.AuditSegments, "full segments", "some half a million entries, for a busy agent an hour: export what is to be kept longer", "the oldest segments are removed"),
		size("AuditReplay", limits.AuditReplay, "a start reads so much of the log to know which ids were used; half a second", "older ids are forgotten"),
		size("AuditSegmentLeast", limits.AuditSegmentLeast, "a start begins a segment; thousands of starts must not wash the log away", "not a limit: a shorter segment counts as one of this size"),
		count("AuditCheckpoint", limits.AuditCheckpoint, "entries", "a signature costs less than a tenth of a millisecond", "not a limit: a checkpoint is written"),
		size("AuditReserve", limits.AuditReserve, "outcomes and the latch still find room when intents no longer do", "storage: nothing may be actuated until there is room"),
		span("AuditRetry", limits.AuditRetry, "a disk that is full is looked at again so soon", "not a limit: the period of the look"),
		count("AuditQueue", limits.AuditQueue, "entries", "a second of very busy tasks", "storage: tasks are held until the disk has caught up"),
		count("AuditPage", limits.AuditPage, "entries", "an answer has to fit a message", "the rest is asked for with since"),
		size("RecordBytes", limits.RecordBytes, "a task with the longest code, in JSON", "the record is refused"),
		size("LatchBytes", limits.LatchBytes, "one sector, which disks write whole", "the reason is cut"),
	}
}

func supervision() []Bound {
	return []Bound{
		count("FailedStarts", limits.FailedStarts, "starts", "what failed so often fails again", "safe mode: no programs, no tasks; `pal safe-mode leave`"),
		span("StableAfter", limits.StableAfter, "a start that lasts so long with its doors open has not failed", "the counter of failed starts is cleared"),
		span("GuardWatchdog", limits.GuardWatchdog, "the specification's hardware watchdog", "the supervisor starts the terminal again"),
		span("NetworkSweep", limits.NetworkSweep, "people notice a lost network within seconds", "not a limit: the period of the look"),
	}
}
