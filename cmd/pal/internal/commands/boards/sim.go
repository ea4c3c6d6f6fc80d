package boards

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/cmd/pal/internal/show"
	"github.com/pal-terminal/pal/cmd/pal/internal/simview"
	"github.com/pal-terminal/pal/protocol"
)

// Sim makes `pal sim`.
func Sim(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sim",
		Short:   "the simulated world: fingers on buttons, volts on inputs",
		Example: "  pal sim ls\n  pal sim set TEMP_ADC 2048\n  pal sim press BUTTON",
	}
	for _, v := range simview.Verbs {
		cmd.AddCommand(newSimVerb(a, v))
	}
	return cli.Group(cmd)
}

func newSimVerb(a *cli.App, v simview.Verb) *cobra.Command {
	cmd := &cobra.Command{Use: v.Use, Short: v.Short, Example: v.Example, Args: cobra.ExactArgs(v.Args())}
	output := ""
	if v.Output {
		cmd.Flags().StringVarP(&output, "output", "o", "", "file to write (default: standard output)")
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		req := protocol.Sim{Op: cmd.Name()}
		if v.Name {
			req.Name = args[0]
		}
		if v.Value {
			req.Value = args[len(args)-1]
		}
		return a.With(cmd.Context(), func(c *client.Client) error { return operate(a, cmd, c, req, output) })
	}
	return cmd
}

// operate does an operation and shows what comes of it. The names of files are this command's affair and never leave it.
func operate(a *cli.App, cmd *cobra.Command, c *client.Client, req protocol.Sim, output string) error {
	switch {
	case req.Op == "image" && output == "" && !a.JSON && show.IsTerminal(a.Stdout):
		return cli.Usagef("a PNG is nothing for a screen: give a file with -o, or see `pal sim text %s`", cli.ShellWord(req.Name))
	case req.Op == "load":
		return simLoad(a, cmd, c, req)
	case req.Op == "scenario" && req.Value != "off":
		text, err := os.ReadFile(req.Value)
		if err != nil {
			return cli.Usagef("read the scenario: %v", err)
		}
		req.Value = string(text)
	}
	answer, err := c.Sim(cmd.Context(), req)
	if err != nil {
		return err
	}
	switch {
	case req.Op == "image" && (output != "" || !a.JSON):
		return simImage(a, answer, output)
	case a.JSON:
		return a.PrintLine(answer.Sim)
	case req.Op == "text":
		text, _, err := simview.Picture(answer.Sim)
		if err == nil {
			_, err = fmt.Fprint(a.Stdout, text)
		}
		return err
	}
	if rows, ok := simview.Rows(answer.Sim, show.Tree); ok {
		return a.PrintTable(simview.Columns, rows)
	}
	_, err = fmt.Fprint(a.Stdout, show.Tree(answer.Sim))
	return err
}

// simImage writes a picture to a file, or to standard output when there is no name.
func simImage(a *cli.App, answer *protocol.SimAnswer, output string) error {
	_, png, err := simview.Picture(answer.Sim)
	if err != nil {
		return err
	}
	if output == "" {
		_, err = a.Stdout.Write(png)
	} else {
		err = os.WriteFile(output, png, 0o644) //nolint:gosec // a picture for everybody
	}
	if err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	return nil
}

// simLoad fills a memory chip with a file. It is the file's length that decides whether it fits, so the chip refuses the part that does
// not; what came before it stays loaded.
func simLoad(a *cli.App, cmd *cobra.Command, c *client.Client, req protocol.Sim) error {
	data, err := os.ReadFile(req.Value)
	if err != nil {
		return cli.Usagef("read what to load: %v", err)
	}
	done := show.NewProgress(a.Stderr, len(data), "bytes into "+req.Name)
	defer done.End()
	for value, loaded := range simview.Loads(data) {
		if _, err := c.Sim(cmd.Context(), protocol.Sim{Op: "load", Name: req.Name, Value: value}); err != nil {
			return err
		}
		done.At(loaded)
	}
	done.End()
	if a.JSON {
		return a.PrintJSON(map[string]any{"name": req.Name, "bytes": len(data)})
	}
	_, err = fmt.Fprintf(a.Stdout, "loaded %s into %s\n", cli.Count(len(data), "byte"), req.Name)
	return err
}
