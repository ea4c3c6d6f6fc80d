package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/protocol"
)

func newToken(a *app) *cobra.Command {
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
				answer, err := once[protocol.Answer](cmd.Context(), a, protocol.TypeToken, &protocol.Token{Op: "revoke", Name: args[0]})
				if err != nil {
					return err
				}
				return a.done(answer, "%s is revoked and its connections are cut", args[0])
			},
		},
	)
	return group(cmd)
}

func newTokenCreate(a *app) *cobra.Command {
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
					return usagef("--ttl must be positive, such as 1h")
				}
				ms := ttl.Milliseconds()
				req.TTLMS = &ms
			}
			answer, err := once[*protocol.Tokens](cmd.Context(), a, protocol.TypeToken, req)
			if err != nil {
				return err
			}
			if a.json {
				return a.printAnswer(answer)
			}
			_, err = fmt.Fprintln(a.stdout, answer.Token)
			return err
		},
	}
	cmd.Flags().StringVar(&req.Class, "class", "agent", "human, agent or service")
	cmd.Flags().StringSliceVar(&req.Scopes, "scope", []string{"read", "exec", "actuate"}, "what it may do: read, exec, actuate, admin")
	cmd.Flags().BoolVar(&req.Ask, "ask", false, "its drives of high danger need an approval")
	cmd.Flags().DurationVar(&ttl, "ttl", 0, "how long it lives, such as 1h (default for ever)")
	return cmd
}

func newTokenList(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "list identities, without their secrets", Example: "  pal token ls --json", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			answer, err := once[*protocol.Tokens](cmd.Context(), a, protocol.TypeToken, &protocol.Token{Op: "ls"})
			if err != nil {
				return err
			}
			if a.json {
				return a.printAnswer(answer)
			}
			var rows [][]string
			for _, t := range answer.Tokens {
				expires, asks := "never", "-"
				if t.ExpiresMS != 0 {
					expires = clock(t.ExpiresMS)
				}
				if t.Ask {
					asks = "asks"
				}
				rows = append(rows, []string{t.Name, t.Class, strings.Join(t.Scopes, ","), expires, asks})
			}
			return a.printTable("NAME CLASS SCOPES EXPIRES DANGER", rows)
		},
	}
}
