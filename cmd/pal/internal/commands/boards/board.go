// Package boards has the commands about boards: board, sim and bench.
package boards

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/cmd/pal/internal/boardfile"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/protocol"
)

// Board makes `pal board`.
func Board(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "board",
		Short:   "board descriptions: show lint init apply",
		Example: "  pal board show\n  pal board lint my-board.yaml\n  pal board init my-board.yaml\n  pal board apply board.py",
	}
	cmd.AddCommand(newBoardShow(a), newBoardLint(a), newBoardInit(a), newBoardApply(a))
	return cli.Group(cmd)
}

func newBoardShow(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "show the running terminal's board and its board.py", Example: "  pal board show", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			answer, err := cli.Once[*protocol.BoardAnswer](cmd.Context(), a, protocol.TypeBoard, &protocol.Board{Op: "show"})
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintAnswer(answer)
			}
			_, err = fmt.Fprintf(a.Stdout, "# board %s, %s mode, sha256 %s\n%s\n# board.py\n%s", answer.Board, answer.Mode, answer.SHA256, answer.File, answer.Source)
			return err
		},
	}
}

func newBoardLint(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "lint FILE", Short: "check a board description and its board.py", Example: "  pal board lint my-board.yaml", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if _, err := os.Stat(args[0]); errors.Is(err, fs.ErrNotExist) {
				return cli.Usagef("there is no file %s", args[0])
			}
			findings := boardfile.Lint(args[0])
			if a.JSON {
				if err := a.PrintJSON(map[string]any{"findings": findings}); err != nil {
					return err
				}
			} else {
				for _, f := range findings {
					if _, err := fmt.Fprintln(a.Stdout, f); err != nil {
						return err
					}
				}
			}
			if len(findings) > 0 {
				return &cli.FailedError{Message: fmt.Sprintf("%s: %s", args[0], cli.Count(len(findings), "finding"))}
			}
			if a.JSON {
				return nil
			}
			_, err := fmt.Fprintf(a.Stdout, "%s: no findings\n", args[0])
			return err
		},
	}
}

func newBoardInit(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "init FILE", Short: "write a small board description and board.py to begin with", Example: "  pal board init my-board.yaml", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			python, err := boardfile.Begin(args[0])
			if exists, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrExist) {
				return cli.Usagef("%s is there already: it is left as it is", exists.Path)
			}
			if err != nil {
				return cli.Usage(err)
			}
			if a.JSON {
				return a.PrintJSON(map[string]string{"board": args[0], "board_py": python})
			}
			_, err = fmt.Fprintf(a.Stdout, "wrote %s and %s: edit them, then `pal board lint %s` and `pal up --board %s`\n", args[0], python, args[0], args[0])
			return err
		},
	}
}
