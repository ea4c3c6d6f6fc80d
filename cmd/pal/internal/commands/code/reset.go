package code

import (
	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/protocol"
)

// Reset makes `pal reset`.
func Reset(a *cli.App) *cobra.Command {
	reset := &protocol.Reset{}
	cmd := &cobra.Command{
		Use:     "reset",
		Short:   "a new machine with empty sessions; with --session, forget that one only",
		Example: "  pal reset\n  pal reset --session test",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			answer, err := cli.Once[protocol.Answer](cmd.Context(), a, protocol.TypeReset, reset)
			if err != nil {
				return err
			}
			if reset.Session != "" {
				return a.Done(answer, "session %s is forgotten", reset.Session)
			}
			return a.Done(answer, "the machine was replaced; every session starts empty")
		},
	}
	cmd.Flags().StringVar(&reset.Session, "session", "", "forget this session instead of replacing the machine")
	return cmd
}

// Interrupt makes `pal interrupt`.
func Interrupt(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "interrupt TRACE",
		Short:   "raise KeyboardInterrupt in a running exec (`pal status` shows its trace)",
		Example: "  pal interrupt t_1a2b3c4d_42",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			answer, err := cli.Once[protocol.Answer](cmd.Context(), a, protocol.TypeInterrupt, &protocol.Target{Target: args[0]})
			if err != nil {
				return err
			}
			return a.Done(answer, "interrupted")
		},
	}
}
