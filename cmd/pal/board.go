package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/boardpy"
	"github.com/pal-terminal/pal/board/sim"
	"github.com/pal-terminal/pal/protocol"
)

func newBoard(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "board",
		Short:   "board descriptions: show the running one, check a file, begin a new one",
		Example: "  pal board show\n  pal board lint my-board.yaml\n  pal board init my-board.yaml",
	}
	cmd.AddCommand(newBoardShow(a), newBoardLint(a), newBoardInit(a))
	return group(cmd)
}

func newBoardShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "show the running terminal's board and its board.py", Example: "  pal board show", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			answer, err := once[*protocol.BoardAnswer](cmd.Context(), a, protocol.TypeBoard, &protocol.Board{Op: "show"})
			if err != nil {
				return err
			}
			if a.json {
				return a.printAnswer(answer)
			}
			_, err = fmt.Fprintf(a.stdout, "# board %s, %s mode, sha256 %s\n%s\n# board.py\n%s", answer.Board, answer.Mode, answer.SHA256, answer.File, answer.Source)
			return err
		},
	}
}

// finding is what lint has to say about a file.
type finding struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"` // 0 when the file could not be read
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

func newBoardLint(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "lint FILE", Short: "check a board description and its board.py", Example: "  pal board lint my-board.yaml", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if _, err := os.Stat(args[0]); errors.Is(err, fs.ErrNotExist) {
				return usagef("there is no file %s", args[0])
			}
			findings := lintBoard(args[0])
			if a.json {
				if err := a.printJSON(map[string]any{"findings": findings}); err != nil {
					return err
				}
			} else {
				for _, f := range findings {
					if _, err := fmt.Fprintln(a.stdout, f); err != nil {
						return err
					}
				}
			}
			if len(findings) > 0 {
				return &failedError{fmt.Sprintf("%s: %s", args[0], count(len(findings), "finding"))}
			}
			if a.json {
				return nil
			}
			_, err := fmt.Fprintf(a.stdout, "%s: no findings\n", args[0])
			return err
		},
	}
}

func (f finding) String() string {
	switch {
	case f.Line == 0:
		return f.File + ": " + f.Message
	case f.Column == 0:
		return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message)
	default:
		return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
	}
}

// lintBoard loads a board file, which tells every fault of the description, builds its simulated devices and then looks at its board.py.
func lintBoard(file string) []finding {
	findings := []finding{}
	d, err := board.Load(file)
	if err == nil && d.Driver.Kind == "sim" {
		// Only the bench knows what may be said of a device.
		var bench *sim.Board
		if bench, err = sim.New(d, sim.Options{}); err == nil {
			err = bench.Close()
		}
	}
	if problems, ok := errors.AsType[board.Problems](err); ok {
		for _, p := range problems {
			findings = append(findings, finding{File: p.File, Line: p.Line, Column: p.Col, Message: p.Message})
		}
		return findings
	}
	if err != nil {
		return append(findings, finding{File: file, Message: err.Error()})
	}
	for _, f := range boardpy.Lint(d.BoardPy) {
		findings = append(findings, finding{File: filepath.Join(filepath.Dir(file), d.BoardPyName), Line: f.Line, Message: f.Message})
	}
	return findings
}

// Beginnings of a board of one's own.
const (
	newBoardYAML = `# A board of your own. Check it with: pal board lint THIS_FILE
board: %[1]s
mode: open            # open: any program may use agent pins; engineering: only functions of board.py may drive
board_py: %[2]s

pins:
  - {id: 0, name: BOOT, owner: system}
  - {id: 5, name: LED, owner: agent, can: [in, out], safe: low}
  - {id: 13, name: PUMP, owner: agent, can: [out], safe: low, max_on: 30s, min_off: 1s, danger: medium}
  - {id: 21, name: BUTTON, owner: agent, can: [in], pull: up}

drivers: {kind: sim}

devices:              # simulator only
  - {type: led, pin: LED}
  - {type: button, pin: BUTTON}
`
	newBoardPy = `"""What this board offers. Everything public here is known to programs by name."""

from machine import Pin

LED = Pin("LED", Pin.OUT)


def toggle_led() -> None:
    """Flip the status light."""
    LED.toggle()
`
)

func newBoardInit(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "init FILE", Short: "write a small board description and board.py to begin with", Example: "  pal board init my-board.yaml", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name := strings.TrimSuffix(filepath.Base(args[0]), filepath.Ext(args[0]))
			python := strings.TrimSuffix(args[0], filepath.Ext(args[0])) + ".py"
			err := writeNew(args[0], fmt.Sprintf(newBoardYAML, name, filepath.Base(python)))
			if err == nil {
				err = writeNew(python, newBoardPy)
			}
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]string{"board": args[0], "board_py": python})
			}
			_, err = fmt.Fprintf(a.stdout, "wrote %s and %s: edit them, then `pal board lint %s` and `pal up --board %s`\n", args[0], python, args[0], args[0])
			return err
		},
	}
}

// writeNew writes a file that must not exist yet.
func writeNew(name, content string) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return usagef("%s is there already: it is left as it is", name)
	}
	if err != nil {
		return usage(err)
	}
	_, err = file.WriteString(content)
	return errors.Join(err, file.Close())
}
