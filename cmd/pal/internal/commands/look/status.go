package look

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/protocol"
)

// Status makes `pal status`.
func Status(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "what the terminal is doing now",
		Example: "  pal status --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := cli.Once[*protocol.Status](cmd.Context(), a, protocol.TypeStatus, nil)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintAnswer(s)
			}
			_, err = io.WriteString(a.Stdout, StatusText(s))
			return err
		},
	}
}

// StatusText is a status for people.
func StatusText(s *protocol.Status) string {
	var b strings.Builder
	line := func(key, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s %s\n", key, fmt.Sprintf(format, args...))
	}
	line("terminal", "%s (%s), up %v", s.Terminal, s.Product, (time.Duration(s.UptimeMS) * time.Millisecond).Round(time.Second))
	line("board", "%s, %s mode", s.Board, s.Mode)
	if s.Estop.Latched {
		line("e-stop", "LATCHED since %s: %s (`pal release` clears it)", cli.Clock(s.Estop.SinceMS), cli.Or(s.Estop.Reason, "no reason given"))
	} else {
		line("e-stop", "not set")
	}
	if s.SafeMode != "" {
		line("safe mode", "%s", s.SafeMode)
	}
	if s.Storage != "" {
		line("storage", "nothing may be driven: %s", s.Storage)
	}
	if r := s.Running; r != nil {
		line("running", "%s of %s in session %s, %s", r.Trace, r.Actor, r.Session, cli.Age(r.SinceMS))
	} else {
		line("running", "nothing")
	}
	line("waiting", "%d", s.Waiting)
	line("connections", "%d (%d refused so far)", s.Connections, s.Refused)
	line("execs", "%d", s.Execs)
	line("tasks", "%d", s.Tasks)
	for _, m := range s.Machines {
		line("machine", "%s %d, process %d, %s, %d MiB", m.Label, m.Generation, m.PID, m.Engine, m.RSSBytes>>20)
	}
	line("audit head", "%s", cli.Or(s.AuditHead, "no audit log is kept"))
	line("restarts", "%d", s.Restarts)
	line("memory", "%d MiB", s.RSSBytes>>20)
	return b.String()
}
