package vm

import (
	"slices"
	"time"
)

// Status is what a pool has at hand, for people and for `status`.
type Status struct {
	Standby  bool            // a booted machine waits for use
	Machines []MachineStatus // the executors' in the order of their making, then the standby
}

// MachineStatus describes one machine.
type MachineStatus struct {
	Label      string // the executor's, "standby" for the machine in hand
	Pid        int    // 0 while there is none
	Generation uint64 // 0 for the standby
	Engine     string
	Sandbox    []string      // measures that the machine says are active
	Missing    []string      // measures that are not, each with its reason
	Boot       time.Duration // from the start of the process to ready
	HeapBytes  uint64
	Shared     bool          // its records go through shared memory
	RSSBytes   int64         // resident memory now, 0 when unknown
	Replaced   time.Duration // what the last replacement took from the loss on, 0 when there was none
}

// Status reports on all machines of the pool. It reads /proc for each and is no part of a hot path.
func (p *Pool) Status() Status {
	p.mu.Lock()
	machines := slices.Clone(p.machines)
	p.mu.Unlock()
	var s Status
	for _, m := range machines {
		s.Machines = append(s.Machines, m.Status())
	}
	if child := p.standby.Load(); child != nil && !child.dying() {
		s.Standby = true
		s.Machines = append(s.Machines, child.status("standby"))
	}
	return s
}

// Status reports on the executor's machine.
func (m *Machine) Status() MachineStatus {
	m.mu.Lock()
	child, gen, took := m.cur, m.gen, m.took
	m.mu.Unlock()
	s := MachineStatus{Label: m.label}
	if child != nil && !child.dying() {
		s = child.status(m.label)
	}
	s.Generation, s.Replaced = gen, took
	return s
}

// status needs a process that has started.
func (p *process) status(label string) MachineStatus {
	return MachineStatus{
		Label: label, Pid: p.c.proc.Pid, Engine: p.ready.Engine, Sandbox: p.ready.Sandbox, Missing: p.ready.Missing,
		Boot: time.Duration(p.ready.BootUS) * time.Microsecond, HeapBytes: p.ready.HeapBytes,
		Shared:   p.ready.Shared,
		RSSBytes: ResidentBytes(p.c.proc.Pid),
	}
}
