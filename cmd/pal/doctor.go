package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/state"
	"github.com/pal-terminal/pal/config"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/micropython"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/vm"
)

// check is one thing that doctor looked at.
type check struct {
	Name      string `json:"name"`
	OK        bool   `json:"ok"`
	Essential bool   `json:"essential"` // pal up does not work without it
	Detail    string `json:"detail"`
}

// findings is what doctor has to say.
type findings struct {
	OK       bool             `json:"ok"` // everything essential is there
	Checks   []check          `json:"checks"`
	Sandbox  []string         `json:"sandbox"` // measures that a machine started here has
	Missing  []string         `json:"missing"` // and those it has not, with reasons
	Terminal *protocol.Status `json:"terminal,omitempty"`
}

func newDoctor(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "check this computer: engine, folders, sandbox, running terminal",
		Long: "doctor checks what `pal up` needs, starts a machine that is thrown away, and says which measures of its sandbox are\n" +
			"active here. It exits with 1 when something essential is missing.",
		Example: "  pal doctor",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f := a.diagnose(cmd.Context())
			if err := a.printFindings(f); err != nil {
				return err
			}
			if !f.OK {
				return &failedError{"something essential is missing: see above"}
			}
			return nil
		},
	}
}

func (a *app) diagnose(ctx context.Context) *findings {
	f := &findings{OK: true, Sandbox: []string{}, Missing: []string{}}
	f.add("engine", true, micropython.Available(), engineVersion())
	cache := config.CacheDir(a.getenv, a.stateDir())
	f.add("cache folder", false, writable(cache), cache)
	_, err := state.Open(a.stateDir())
	f.add("state folder", true, err, a.stateDir())
	f.Checks = append(f.Checks, kernelChecks()...)
	if f.OK {
		f.addMachine(ctx, a.machine, cache)
	}
	a.addTerminal(ctx, f)
	return f
}

// add notes one check; detail is what to say when it went well.
func (f *findings) add(name string, essential bool, err error, detail string) {
	c := check{Name: name, OK: err == nil, Essential: essential, Detail: detail}
	if err != nil {
		c.Detail = oneLine(err)
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
func (f *findings) addMachine(ctx context.Context, command []string, cache string) {
	pool, err := vm.NewPool(vm.Config{Command: command, CacheDir: cache, Board: "doctor", Version: productVersion()})
	if err != nil {
		f.add("machine", true, err, "")
		return
	}
	defer pool.Close() //nolint:errcheck // Close of a pool has nothing to report that this command could act on
	machine := pool.Executor("doctor")
	began := time.Now()
	if err := machine.Ready(ctx); err != nil {
		f.add("machine", true, err, "")
		return
	}
	took := time.Since(began).Round(time.Millisecond)
	status := machine.Status()
	f.Sandbox, f.Missing = append(f.Sandbox, status.Sandbox...), append(f.Missing, status.Missing...)
	f.add("machine", true, compute(ctx, machine), fmt.Sprintf("%s, ready in %v, %d MiB", status.Engine, took, status.RSSBytes>>20))
	var incomplete error
	if !slices.Contains(status.Sandbox, "seccomp") {
		incomplete = errors.New("system calls of the machine are not filtered here: `pal up` needs --unsafe-no-sandbox")
	}
	f.add("sandbox", true, incomplete, strings.Join(status.Sandbox, ", "))
	for _, m := range status.Missing {
		f.add("sandbox measure", false, errors.New(m), "")
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
		return fmt.Errorf("6*7 gave %q: %s", out.Value, or(out.Cause, "no reason given"))
	}
	return nil
}

// addTerminal notes how the running terminal is, if there is one.
func (a *app) addTerminal(ctx context.Context, f *findings) {
	t, err := a.target()
	if errors.Is(err, errNotRunning) {
		f.add("terminal", false, nil, "none is running: start one with `pal up`")
		return
	}
	var c *client.Client
	if err == nil {
		c, err = client.Dial(ctx, t)
	}
	if err != nil {
		f.add("terminal", false, err, "")
		return
	}
	defer c.Close() //nolint:errcheck // nothing more is wanted of it
	f.Terminal, err = c.Status(ctx)
	f.add("terminal", false, err, "running at "+t.URL)
}

func (a *app) printFindings(f *findings) error {
	if a.json {
		return a.printJSON(f)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "pal %s on %s/%s\n", productVersion(), runtime.GOOS, runtime.GOARCH)
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
	if f.Terminal != nil {
		b.WriteString("\n" + statusText(f.Terminal))
	}
	_, err := io.WriteString(a.stdout, b.String())
	return err
}
