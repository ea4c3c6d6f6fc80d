package safety

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/protocol"
)

// Token makes `pal token`.
func Token(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "token",
		Short:   "identities: create, list, revoke",
		Example: "  pal token create bot --class agent --scope read,exec --ttl 1h\n  pal token revoke bot",
	}
	cmd.AddCommand(newTokenCreate(a), newTokenList(a),
		&cobra.Command{
			Use: "revoke NAME", Short: "end an identity and cut its connections at once", Example: "  pal token revoke bot",
			Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				answer, err := cli.Once[protocol.Answer](cmd.Context(), a, protocol.TypeToken, &protocol.Token{Op: "revoke", Name: args[0]})
				if err != nil {
					return err
				}
				return a.Done(answer, "%s is revoked and its connections are cut", args[0])
			},
		},
	)
	return cli.Group(cmd)
}

func newTokenCreate(a *cli.App) *cobra.Command {
	req := &protocol.Token{Op: "create"}
	var ttl time.Duration
	cmd := &cobra.Command{
		Use:     "create NAME",
		Short:   "make a token; it is printed once and stored nowhere",
		Example: "  PAL_TOKEN=$(pal token create bot --class agent --scope read,exec) pal exec 'print(1)'",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Name = args[0]
			if cmd.Flags().Changed("ttl") {
				if ttl < time.Millisecond {
					return cli.Usagef("--ttl must be positive, such as 1h")
				}
				ms := ttl.Milliseconds()
				req.TTLMS = &ms
			}
			answer, err := cli.Once[*protocol.Tokens](cmd.Context(), a, protocol.TypeToken, req)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintAnswer(answer)
			}
			_, err = fmt.Fprintln(a.Stdout, answer.Token)
			return err
		},
	}
	cmd.Flags().StringVar(&req.Class, "class", "agent", "human, agent or service")
	cmd.Flags().StringSliceVar(&req.Scopes, "scope", []string{"read", "exec", "actuate"}, "what it may do: read, exec, actuate, admin")
	cmd.Flags().BoolVar(&req.Ask, "ask", false, "its drives of high danger need an approval")
	cmd.Flags().DurationVar(&ttl, "ttl", 0, "how long it lives, such as 1h (default for ever)")
	return cmd
}

func newTokenList(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "list identities, without their secrets", Example: "  pal token ls --json", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			answer, err := cli.Once[*protocol.Tokens](cmd.Context(), a, protocol.TypeToken, &protocol.Token{Op: "ls"})
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintAnswer(answer)
			}
			var rows [][]string
			for _, t := range answer.Tokens {
				expires, asks := "never", "-"
				if t.ExpiresMS != 0 {
					expires = cli.Clock(t.ExpiresMS)
				}
				if t.Ask {
					asks = "asks"
				}
				rows = append(rows, []string{t.Name, t.Class, strings.Join(t.Scopes, ","), expires, asks})
			}
			return a.PrintTable("NAME CLASS SCOPES EXPIRES DANGER", rows)
		},
	}
}
