package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/flashfs"
)

func newEdit(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "edit :FILE",
		Short: "change a file on the terminal with $VISUAL or $EDITOR",
		Long: "edit opens a copy of a file, or a new one, in $VISUAL or else $EDITOR, and writes it back when the editor ends. When the\n" +
			"terminal's file changed meanwhile it is left alone, and the copy is kept.",
		Example: "  pal edit :main.py",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			editor := strings.Fields(or(a.getenv("VISUAL"), a.getenv("EDITOR")))
			if len(editor) == 0 {
				return usagef("there is no editor: set EDITOR, such as EDITOR=nano")
			}
			place := flashfs.Place{Path: flashfs.Path(args[0]), Remote: true}
			return a.with(cmd.Context(), func(c *client.Client) error {
				changed, err := flashfs.New(c).Edit(cmd.Context(), place, func(file string) error {
					run := exec.CommandContext(cmd.Context(), editor[0], append(editor[1:], file)...) //nolint:gosec // it is the person's own editor
					run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }             // it has a screen to put in order
					run.Stdin, run.Stdout, run.Stderr = a.stdin, a.stdout, a.stderr
					if err := run.Run(); err != nil {
						return &failedError{fmt.Sprintf("the editor %s: %v", editor[0], err)}
					}
					return nil
				})
				if err != nil {
					return local(err)
				}
				if a.json {
					return a.printJSON(map[string]any{"path": place.Path, "changed": changed})
				}
				said := "is as it was"
				if changed {
					said = "is written"
				}
				_, err = fmt.Fprintf(a.stdout, "%s %s\n", place, said)
				return err
			})
		},
	}
}
