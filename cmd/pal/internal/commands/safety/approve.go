package safety

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/protocol"
)

// Approvals makes `pal approvals`.
func Approvals(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "approvals", Short: "drives of high danger that wait for a person, and those that were decided", Example: "  pal approvals", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.With(cmd.Context(), func(c *client.Client) error {
				list, err := c.Approvals(cmd.Context())
				if err != nil {
					return err
				}
				if a.JSON {
					return a.PrintJSON(map[string]any{"approvals": list})
				}
				var rows [][]string
				for _, q := range list {
					rows = append(rows, []string{q.ApprovalID, q.State, q.Actor, q.Verb, q.Pin, cli.Clock(q.AskedMS), cli.Due(q.ExpiresMS), cli.Or(q.By, "-")})
				}
				return a.PrintTable("ID STATE ACTOR VERB PIN ASKED EXPIRES BY", rows)
			})
		},
	}
}

// Approve makes `pal approve`.
func Approve(a *cli.App) *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use:   "approve ID",
		Short: "look at a drive of high danger that waits, and allow it once; `pal deny` refuses it",
		Long: "approve shows what asks for a drive of high danger, as the guard has it, and asks whether to allow it. It allows the same code\n" +
			"to drive that pin in one run. Humans only.",
		Example: "  pal approve k3f9x2ab",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(cmd.Context(), func(c *client.Client) error {
				if !yes {
					q, err := c.Approval(cmd.Context(), args[0])
					if err != nil {
						return err
					}
					if _, err := io.WriteString(a.Stderr, strings.TrimRight(q.Text, "\n")+"\n"); err != nil {
						return err
					}
					if q.State == "pending" { // else the terminal says what became of it
						if err := a.Consent(cmd.Context(), "allow this once?"); err != nil {
							return err
						}
					}
				}
				q, err := c.Approve(cmd.Context(), args[0], "")
				if err != nil {
					return err
				}
				return decided(a, q)
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// Deny makes `pal deny`.
func Deny(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "deny ID [REASON]", Short: "refuse a drive of high danger that waits", Example: "  pal deny k3f9x2ab 'not while people are inside'",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(cmd.Context(), func(c *client.Client) error {
				q, err := c.Deny(cmd.Context(), args[0], strings.Join(args[1:], " "))
				if err != nil {
					return err
				}
				return decided(a, q)
			})
		},
	}
}

func decided(a *cli.App, q *protocol.ApprovalInfo) error {
	return tell(a, q, fmt.Sprintf("%s is %s: %s asked to %s %s", q.ApprovalID, q.State, q.Actor, q.Verb, q.Pin))
}
