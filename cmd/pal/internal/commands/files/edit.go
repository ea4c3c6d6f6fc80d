package files

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/cmd/pal/internal/flashfs"
)

// Edit makes `pal edit`.
func Edit(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "edit :FILE",
		Short: "change a file on the terminal with $VISUAL or $EDITOR",
		Long: "edit opens a copy of a file, or a new one, in $VISUAL or else $EDITOR, and writes it back when the editor ends. When the\n" +
			"terminal's file changed meanwhile it is left alone, and the copy is kept.",
		Example: "  pal edit :main.py",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			editor := strings.Fields(cli.Or(a.Getenv("VISUAL"), a.Getenv("EDITOR")))
			if len(editor) == 0 {
				return cli.Usagef("there is no editor: set EDITOR, such as EDITOR=nano")
			}
			place := flashfs.Place{Path: flashfs.Path(args[0]), Remote: true}
			return a.With(cmd.Context(), func(c *client.Client) error {
				changed, err := flashfs.New(c).Edit(cmd.Context(), place, func(file string) error {
					run := exec.CommandContext(cmd.Context(), editor[0], append(editor[1:], file)...) //nolint:gosec // it is the person's own editor
					run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }             // it has a screen to put in order
					run.Stdin, run.Stdout, run.Stderr = a.Stdin, a.Stdout, a.Stderr
					if err := run.Run(); err != nil {
						return &cli.FailedError{Message: fmt.Sprintf("the editor %s: %v", editor[0], err)}
					}
					return nil
				})
				if err != nil {
					return local(err)
				}
				if a.JSON {
					return a.PrintJSON(map[string]any{"path": place.Path, "changed": changed})
				}
				said := "is as it was"
				if changed {
					said = "is written"
				}
				_, err = fmt.Fprintf(a.Stdout, "%s %s\n", place, said)
				return err
			})
		},
	}
}
