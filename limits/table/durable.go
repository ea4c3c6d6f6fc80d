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
	}
}

func disk() []Bound {
	return []Bound{
		span("AuditSync", limits.AuditSync, "outcomes of tasks and events wait so long at most for the disk", "not a limit: a loss of power takes that much with it"),
		size("AuditEntryBytes", limits.AuditEntryBytes, "one entry with code, effects and answer", "texts in it are cut, with their length"),
		size("AuditCodeBytes", limits.AuditCodeBytes, "nearly every program in full; the hash is of all of it", "the code is cut in the entry"),
		size("AuditAnswerBytes", limits.AuditAnswerBytes, "the first lines of each stream", "cut in the entry, truncated is set"),
		size("AuditSegmentBytes", limits.AuditSegmentBytes, "some ten thousand entries, verified in a moment", "a new segment begins"),
		count("AuditSegments", limits.AuditSegments, "segments", "some hundred thousand entries: export what is to be kept longer", "the oldest segment is removed"),
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
