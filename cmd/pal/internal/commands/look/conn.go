package look

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/protocol"
)

// Conn makes `pal conn`.
func Conn(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "conn",
		Short:   "live connections: list them, cut one",
		Example: "  pal conn ls\n  pal conn kick 3",
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "ls", Short: "list live connections", Example: "  pal conn ls --json", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				answer, err := cli.Once[*protocol.Conns](cmd.Context(), a, protocol.TypeConn, &protocol.Conn{Op: "ls"})
				if err != nil {
					return err
				}
				if a.JSON {
					return a.PrintAnswer(answer)
				}
				return a.PrintTable("CONN ACTOR CLIENT REMOTE VIA AGE REQUESTS NOTE", connRows(answer.Conns))
			},
		},
		&cobra.Command{
			Use: "kick CONN", Short: "cut a connection", Example: "  pal conn kick 3", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				n, err := strconv.ParseUint(args[0], 10, 64)
				if err != nil {
					return cli.Usagef("%q is not the number of a connection: see `pal conn ls`", args[0])
				}
				answer, err := cli.Once[protocol.Answer](cmd.Context(), a, protocol.TypeConn, &protocol.Conn{Op: "kick", Conn: &n})
				if err != nil {
					return err
				}
				return a.Done(answer, "connection %d is cut", n)
			},
		},
	)
	return cli.Group(cmd)
}

func connRows(conns []protocol.ConnInfo) [][]string {
	var rows [][]string
	for _, c := range conns {
		note := "-"
		switch {
		case c.Self:
			note = "this command"
		case c.Reserved:
			note = "reserved"
		}
		rows = append(rows, []string{
			strconv.FormatUint(c.Conn, 10), cli.Or(c.Actor, "-"), cli.Or(c.Client, "-"), c.Remote, c.Transport, cli.Age(c.SinceMS),
			strconv.FormatUint(c.Requests, 10), note,
		})
	}
	return rows
}
