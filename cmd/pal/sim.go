package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/show"
	"github.com/pal-terminal/pal/cmd/pal/internal/simview"
	"github.com/pal-terminal/pal/protocol"
)

func newSim(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sim",
		Short:   "the simulated world: fingers on buttons, volts on inputs",
		Example: "  pal sim ls\n  pal sim set TEMP_ADC 2048\n  pal sim press BUTTON",
	}
	for _, v := range simview.Verbs {
		cmd.AddCommand(newSimVerb(a, v))
	}
	return group(cmd)
}

func newSimVerb(a *app, v simview.Verb) *cobra.Command {
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
		return a.with(cmd.Context(), func(c *client.Client) error { return a.sim(cmd, c, req, output) })
	}
	return cmd
}

// sim does an operation and shows what comes of it. The names of files are this command's affair and never leave it.
func (a *app) sim(cmd *cobra.Command, c *client.Client, req protocol.Sim, output string) error {
	switch {
	case req.Op == "image" && output == "" && !a.json && show.IsTerminal(a.stdout):
		return usagef("a PNG is nothing for a screen: give a file with -o, or see `pal sim text %s`", shellWord(req.Name))
	case req.Op == "load":
		return a.simLoad(cmd, c, req)
	case req.Op == "scenario" && req.Value != "off":
		text, err := os.ReadFile(req.Value)
		if err != nil {
			return usagef("read the scenario: %v", err)
		}
		req.Value = string(text)
	}
	answer, err := c.Sim(cmd.Context(), req)
	if err != nil {
		return err
	}
	switch {
	case req.Op == "image" && (output != "" || !a.json):
		return a.simImage(answer, output)
	case a.json:
		return a.printLine(answer.Sim)
	case req.Op == "text":
		text, _, err := simview.Picture(answer.Sim)
		if err == nil {
			_, err = fmt.Fprint(a.stdout, text)
		}
		return err
	}
	if rows, ok := simview.Rows(answer.Sim, show.Tree); ok {
		return a.printTable(simview.Columns, rows)
	}
	_, err = fmt.Fprint(a.stdout, show.Tree(answer.Sim))
	return err
}

// simImage writes a picture to a file, or to standard output when there is no name.
func (a *app) simImage(answer *protocol.SimAnswer, output string) error {
	_, png, err := simview.Picture(answer.Sim)
	if err != nil {
		return err
	}
	if output == "" {
		_, err = a.stdout.Write(png)
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
func (a *app) simLoad(cmd *cobra.Command, c *client.Client, req protocol.Sim) error {
	data, err := os.ReadFile(req.Value)
	if err != nil {
		return usagef("read what to load: %v", err)
	}
	done := show.NewProgress(a.stderr, len(data), "bytes into "+req.Name)
	defer done.End()
	for value, loaded := range simview.Loads(data) {
		if _, err := c.Sim(cmd.Context(), protocol.Sim{Op: "load", Name: req.Name, Value: value}); err != nil {
			return err
		}
		done.At(loaded)
	}
	done.End()
	if a.json {
		return a.printJSON(map[string]any{"name": req.Name, "bytes": len(data)})
	}
	_, err = fmt.Fprintf(a.stdout, "loaded %s into %s\n", count(len(data), "byte"), req.Name)
	return err
}
