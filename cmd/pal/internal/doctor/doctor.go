// Package doctor looks whether a computer has what a terminal needs.
//
// # Model
//
// [Look] checks the engine, the folders, what the kernel offers, and then starts a machine that is thrown away and has it compute
// something. Each [Check] stands for itself; what is essential decides whether all is well.
//
// It changes nothing but makes the folders that a terminal would make, and it asks no running terminal: that is for the caller.
// What a terminal keeps in its folder is read and never written, and a watchdog is never opened: that would arm it.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pal-terminal/pal/cmd/pal/internal/state"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/micropython"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/vm"
)

// Check is one thing that doctor looked at.
type Check struct {
	Name      string `json:"name"`
	OK        bool   `json:"ok"`
	Essential bool   `json:"essential"` // pal up does not work without it
	Detail    string `json:"detail"`
}

// Findings is what doctor has to say.
type Findings struct {
	OK       bool             `json:"ok"` // everything essential is there
	Checks   []Check          `json:"checks"`
	Sandbox  []string         `json:"sandbox"` // measures that a machine started here has
	Missing  []string         `json:"missing"` // and those it has not, with reasons
	Terminal *protocol.Status `json:"terminal,omitempty"`
}

// Options say what to look at. Those of the first group are all needed.
type Options struct {
	Machine       []string // start of the command line of a machine
	Cache, State  string   // folders
	Version       string   // of this program
	EngineVersion string

	Latch, Starts   string // names of the files in the state folder; empty: they are not looked at
	Listen, Network string // as configured
	Watchdog        string // device, empty when none is configured
	Realtime        bool
	Getenv          func(string) string // nil for the process's own
}

// Look checks this computer. It returns when the machine that it starts has answered, or ctx has ended.
func Look(ctx context.Context, o Options) *Findings {
	f := &Findings{OK: true, Sandbox: []string{}, Missing: []string{}}
	f.Add("engine", true, micropython.Available(), o.EngineVersion)
	f.Add("cache folder", false, writable(o.Cache), o.Cache)
	_, err := state.Open(o.State)
	f.Add("state folder", true, err, o.State)
	if err == nil {
		f.addDisk(o.State)
		f.addKept(o)
	}
	f.Checks = append(f.Checks, kernelChecks()...)
	f.addClock(time.Now())
	f.addSupervision(o)
	f.addNetwork(o)
	if f.OK {
		f.addMachine(ctx, o)
	}
	return f
}

// Add notes one check; detail is what to say when it went well.
func (f *Findings) Add(name string, essential bool, err error, detail string) {
	c := Check{Name: name, OK: err == nil, Essential: essential, Detail: detail}
	if err != nil {
		c.Detail = strings.ReplaceAll(err.Error(), "\n", "; ")
		f.OK = f.OK && !essential
	}
	f.Checks = append(f.Checks, c)
}

func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// addMachine starts a machine, has it compute something, and notes what its sandbox is made of.
func (f *Findings) addMachine(ctx context.Context, o Options) {
	pool, err := vm.NewPool(vm.Config{Command: o.Machine, CacheDir: o.Cache, Board: "doctor", Version: o.Version})
	if err != nil {
		f.Add("machine", true, err, "")
		return
	}
	defer pool.Close() //nolint:errcheck // Close of a pool has nothing to report that this command could act on
	machine := pool.Executor("doctor")
	began := time.Now()
	if err := machine.Ready(ctx); err != nil {
		f.Add("machine", true, err, "")
		return
	}
	took := time.Since(began).Round(time.Millisecond)
	status := machine.Status()
	f.Sandbox, f.Missing = append(f.Sandbox, status.Sandbox...), append(f.Missing, status.Missing...)
	f.Add("machine", true, compute(ctx, machine), fmt.Sprintf("%s, ready in %v, %d MiB", status.Engine, took, status.RSSBytes>>20))
	var incomplete error
	if !slices.Contains(status.Sandbox, "seccomp") {
		incomplete = errors.New("system calls of the machine are not filtered here: `pal up` needs --unsafe-no-sandbox")
	}
	f.Add("sandbox", true, incomplete, strings.Join(status.Sandbox, ", "))
	for _, m := range status.Missing {
		f.Add("sandbox measure", false, errors.New(m), "")
	}
}

// noHardware is a sink for jobs that touch none.
type noHardware struct{}

func (noHardware) Call(context.Context, hw.Call) hw.Reply {
	return hw.Reply{Errno: 13, Text: "doctor has no hardware"}
}

func (noHardware) Output(hw.Stream, []byte) {}

func compute(ctx context.Context, machine *vm.Machine) error {
	ctx, cancel := context.WithTimeout(ctx, limits.BoardInitTimeout)
	defer cancel()
	out := machine.Run(ctx, hw.Job{Kind: hw.JobExec, Code: "6*7", Eval: true, MaxOutput: limits.OutputDefault}, noHardware{})
	if string(out.Value) != "42" {
		return fmt.Errorf("6*7 gave %q (%s)", out.Value, out.Cause)
	}
	return nil
}

// Text is the checks for people, a line each.
func (f *Findings) Text() string {
	var b strings.Builder
	for _, c := range f.Checks {
		mark := "ok   "
		switch {
		case !c.OK && c.Essential:
			mark = "FAIL "
		case !c.OK:
			mark = "warn "
		}
		fmt.Fprintf(&b, "%s %-16s %s\n", mark, c.Name, c.Detail)
	}
	return b.String()
}
