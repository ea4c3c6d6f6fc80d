package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/cmd/pal/internal/commands/look"
	"github.com/pal-terminal/pal/cmd/pal/internal/doctor"
	"github.com/pal-terminal/pal/config"
)

func newDoctor(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "check this computer: engine, folders, sandbox, running terminal",
		Long: "doctor checks what `pal up` needs, starts a machine that is thrown away, and says which measures of its sandbox are\n" +
			"active here. It exits with 1 when something essential is missing.",
		Example: "  pal doctor",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f := doctor.Look(cmd.Context(), doctor.Options{
				Machine: a.Machine, Cache: config.CacheDir(a.Getenv, a.StateDir()), State: a.StateDir(),
				Version: productVersion(), EngineVersion: engineVersion(),
			})
			addTerminal(cmd.Context(), a, f)
			if err := printFindings(a, f); err != nil {
				return err
			}
			if !f.OK {
				return &cli.FailedError{Message: "something essential is missing: see above"}
			}
			return nil
		},
	}
}

// addTerminal notes how the running terminal is, if there is one.
func addTerminal(ctx context.Context, a *cli.App, f *doctor.Findings) {
	t, err := a.Target()
	if errors.Is(err, cli.ErrNotRunning) {
		f.Add("terminal", false, nil, "none is running: start one with `pal up`")
		return
	}
	var c *client.Client
	if err == nil {
		c, err = client.Dial(ctx, t)
	}
	if err != nil {
		f.Add("terminal", false, err, "")
		return
	}
	defer c.Close() //nolint:errcheck // nothing more is wanted of it
	f.Terminal, err = c.Status(ctx)
	f.Add("terminal", false, err, "running at "+t.URL)
}

func printFindings(a *cli.App, f *doctor.Findings) error {
	if a.JSON {
		return a.PrintJSON(f)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "pal %s on %s/%s\n", productVersion(), runtime.GOOS, runtime.GOARCH)
	b.WriteString(f.Text())
	if f.Terminal != nil {
		b.WriteString("\n" + look.StatusText(f.Terminal))
	}
	_, err := io.WriteString(a.Stdout, b.String())
	return err
}
