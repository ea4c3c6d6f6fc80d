package code

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/cmd/pal/internal/repl"
	"github.com/pal-terminal/pal/cmd/pal/internal/show"
	"github.com/pal-terminal/pal/cmd/pal/internal/state"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// REPL makes `pal repl`.
func REPL(a *cli.App) *cobra.Command {
	var flags execFlags
	cmd := &cobra.Command{
		Use:   "repl",
		Short: "a MicroPython prompt on the terminal",
		Long: "repl is a MicroPython prompt. Ctrl-C interrupts what runs, or clears what is typed; Ctrl-D or Ctrl-] leaves. What is\n" +
			"typed is kept in the state folder. Input that nobody types is run statement by statement.",
		Example: "  pal repl\n  pal repl --session test",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.JSON {
				return cli.Usagef("a prompt has no JSON form: see `pal exec --json`")
			}
			req, err := flags.request(cmd, "")
			if err != nil {
				return err
			}
			return a.With(cmd.Context(), func(c *client.Client) error { return prompt(cmd.Context(), a, c, req) })
		},
	}
	cmd.Flags().DurationVar(&flags.timeout, "timeout", 0, "deadline of each statement (default: the longest the terminal allows)")
	cmd.Flags().StringVar(&flags.session, "session", "", "session to run in (default: your own)")
	return cmd
}

func prompt(ctx context.Context, a *cli.App, c *client.Client, req protocol.Exec) error {
	welcome := c.Welcome()
	if longest, ok := welcome.Limits["max_exec_ms"]; ok && req.TimeoutMS == nil {
		req.TimeoutMS = &longest
	}
	echo, most := true, int64(limits.OutputMax)
	req.Echo, req.MaxOutput = &echo, &most
	var last error // of the last statement; only a script ends with it
	run := func(ctx context.Context, code string, out io.Writer) error {
		req := req
		req.Code = code
		last = execute(ctx, a, c, req, true, out, out)
		if cli.IsQuiet(last) {
			return nil
		}
		return last
	}
	if keys, ok := a.Stdin.(*os.File); ok && show.IsTerminal(keys) && show.IsTerminal(a.Stdout) {
		_, err := fmt.Fprintf(a.Stdout, "%s on %s as %s; Ctrl-C interrupts, Ctrl-] leaves\n", welcome.Product, welcome.Terminal, welcome.Actor.Name)
		if err != nil {
			return err
		}
		return repl.Interactive(ctx, repl.Screen{Keys: keys, Display: a.Stdout, History: historyFile(a)}, run)
	}
	if err := repl.Script(ctx, a.Stdin, a.Stdout, run); err != nil {
		return err
	}
	return last
}

// historyFile returns where typed lines are kept, or nothing when the folder cannot hold them.
func historyFile(a *cli.App) string {
	folder, err := state.Open(a.StateDir())
	if err != nil {
		return ""
	}
	return folder.Path(state.HistoryFile)
}
