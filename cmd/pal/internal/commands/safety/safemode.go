package safety

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/protocol"
)

// SafeMode makes `pal safe-mode`.
func SafeMode(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "safe-mode",
		Short:   "after starts that failed no programs run: status leave",
		Example: "  pal safe-mode status\n  pal safe-mode leave",
	}
	cmd.AddCommand(
		newSafeMode(a, "status", "whether the terminal is in safe mode, and why", (*client.Client).SafeMode),
		newSafeMode(a, "leave", "let programs and tasks run again; humans only", (*client.Client).LeaveSafeMode))
	return cli.Group(cmd)
}

func newSafeMode(a *cli.App, verb, short string, ask func(*client.Client, context.Context) (*protocol.SafeModeAnswer, error)) *cobra.Command {
	return &cobra.Command{
		Use: verb, Short: short, Example: "  pal safe-mode " + verb, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.With(cmd.Context(), func(c *client.Client) error {
				s, err := ask(c, cmd.Context())
				if err != nil {
					return err
				}
				if s.Active {
					return a.Done(s, "safe mode: %s", s.Reason)
				}
				return a.Done(s, "not in safe mode, %s failed", cli.Count(s.FailedStarts, "start"))
			})
		},
	}
}
