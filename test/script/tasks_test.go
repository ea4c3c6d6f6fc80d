//go:build unix

package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pal-terminal/pal/protocol"
)

// task is what `pal task show --json` prints.
type task struct {
	Task protocol.TaskInfo  `json:"task"`
	Runs []protocol.TaskRun `json:"runs"`
}

func showTask(ts *testscript.TestScript, id string) (*task, error) {
	out, err := pal(ts, "task", "show", id, "--json")
	if err != nil {
		return nil, err
	}
	var t task
	return &t, json.Unmarshal(out, &t)
}

// taskRuns ID N waits until N runs of a task that this terminal has done itself are told of.
func taskRuns(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	eventually(ts, fmt.Sprintf("task %s has run %d times", args[0], want), func() (bool, error) {
		t, err := showTask(ts, args[0])
		return err == nil && len(t.Runs) >= want, err
	})
}

// phase ID MS fails unless every run of the schedule was due a whole number of intervals after the registration.
func phase(ts *testscript.TestScript, _ bool, args []string) {
	interval, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	t, err := showTask(ts, args[0])
	ts.Check(err)
	if len(t.Runs) == 0 {
		ts.Fatalf("task %s has not run", args[0])
	}
	for _, r := range t.Runs {
		if r.Cause == "schedule" && (r.DueMS-t.Task.CreatedMS)%interval != 0 {
			ts.Fatalf("run %d was due %d ms after the registration, want a multiple of %d", r.Run, r.DueMS-t.Task.CreatedMS, interval)
		}
	}
}

// flipByte FILE TEXT changes one bit of the first place at which a file holds a text.
func flipByte(ts *testscript.TestScript, _ bool, args []string) {
	file := ts.MkAbs(args[0])
	data, err := os.ReadFile(file)
	ts.Check(err)
	at := bytes.Index(data, []byte(args[1]))
	if at < 0 {
		ts.Fatalf("%s does not hold %s", args[0], args[1])
	}
	data[at] ^= 1
	ts.Check(os.WriteFile(file, data, 0o600))
}

// waitLease RESOURCE waits until somebody has a lease of it, and puts the lease's id into LEASE.
func waitLease(ts *testscript.TestScript, _ bool, args []string) {
	eventually(ts, args[0]+" is leased", func() (bool, error) {
		out, err := pal(ts, "lease", "ls", "--json")
		if err != nil {
			return false, err
		}
		var answer protocol.Leases
		if err := json.Unmarshal(out, &answer); err != nil {
			return false, err
		}
		for _, l := range answer.Leases {
			if l.Task == "" && l.Resources[0].Resource == args[0] {
				ts.Setenv("LEASE", l.LeaseID)
				return true, nil
			}
		}
		return false, nil
	})
}
