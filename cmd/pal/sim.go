package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

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
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		req := protocol.Sim{Op: cmd.Name()}
		if v.Name {
			req.Name = args[0]
		}
		if v.Value {
			req.Value = args[1]
		}
		return a.sim(cmd, req)
	}
	return cmd
}

// sim sends an operation and shows what comes of it. The names of files are this command's affair and never leave it.
func (a *app) sim(cmd *cobra.Command, req protocol.Sim) error {
	file := ""
	switch req.Op {
	case "image":
		file, req.Value = req.Value, ""
	case "play":
		text, err := os.ReadFile(req.Name)
		if err != nil {
			return usagef("read the scenario: %v", err)
		}
		req = protocol.Sim{Op: "scenario", Value: string(text)}
	}
	answer, err := once[*protocol.SimAnswer](cmd.Context(), a, protocol.TypeSim, &req)
	if err != nil {
		return err
	}
	switch {
	case req.Op == "image":
		_, png, err := simview.Picture(answer.Sim)
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, png, 0o644); err != nil { //nolint:gosec // a picture for everybody
			return fmt.Errorf("write the picture: %w", err)
		}
		return nil
	case a.json:
		return a.printLine(answer.Sim)
	case req.Op == "text":
		text, _, err := simview.Picture(answer.Sim)
		if err == nil {
			_, err = fmt.Fprint(a.stdout, text)
		}
		return err
	}
	if rows, ok := simview.Rows(answer.Sim, tree); ok {
		return a.printTable(simview.Columns, rows)
	}
	_, err = fmt.Fprint(a.stdout, tree(answer.Sim))
	return err
}
