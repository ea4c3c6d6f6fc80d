package boards

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/board/boardpy"
	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/cmd/pal/internal/commands/code"
	"github.com/pal-terminal/pal/cmd/pal/internal/show"
)

func newBoardApply(a *cli.App) *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use:   "apply FILE",
		Short: "replace the board.py of the running terminal, after a look at what changes",
		Long: "apply checks a board.py, shows which functions it adds, removes and changes, asks, and makes it the running terminal's, for good.\n" +
			"It is refused when somebody else changed the board meanwhile. Every machine is replaced: sessions start empty.",
		Example: "  pal board apply board.py\n  pal board apply board.py --yes",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			source, err := code.ReadCode(a, args[0])
			if err != nil {
				return err
			}
			if findings := boardpy.Lint([]byte(source)); len(findings) > 0 {
				for _, f := range findings {
					_, _ = fmt.Fprintf(a.Stderr, "%s:%d: %s\n", args[0], f.Line, f.Message) // what fails here has nowhere to be told
				}
				return &cli.FailedError{Message: fmt.Sprintf("%s: %s, nothing was changed", args[0], cli.Count(len(findings), "finding"))}
			}
			return a.With(cmd.Context(), func(c *client.Client) error { return apply(cmd.Context(), a, c, source, yes) })
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func apply(ctx context.Context, a *cli.App, c *client.Client, source string, yes bool) error {
	now, err := c.Board(ctx, "show")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stderr, "%sboard.py now sha256 %x\n   becomes sha256 %x\n", changes(now.Source, source), sha256.Sum256([]byte(now.Source)), sha256.Sum256([]byte(source)))
	if err != nil {
		return err
	}
	if !yes {
		if err := a.Consent(ctx, "apply to board "+show.Name(now.Board)+"?"); err != nil {
			return err
		}
	}
	answer, err := c.BoardApply(ctx, source, now.SHA256)
	if err != nil {
		return err
	}
	return a.Done(answer, "board.py of %s is changed; the board's sha256 is %s, and every session starts empty", answer.Board, answer.SHA256)
}

// changes tells which functions a board.py takes away (-) and brings (+).
func changes(before, after string) string {
	signatures := func(source string) (list []string) {
		for _, f := range boardpy.Functions([]byte(source)) {
			list = append(list, f.Signature)
		}
		return list
	}
	was, is := signatures(before), signatures(after)
	var b strings.Builder
	for _, s := range was {
		if !slices.Contains(is, s) {
			fmt.Fprintf(&b, "- %s\n", show.Name(s))
		}
	}
	for _, s := range is {
		if !slices.Contains(was, s) {
			fmt.Fprintf(&b, "+ %s\n", show.Name(s))
		}
	}
	if b.Len() == 0 {
		return "the same functions\n"
	}
	return b.String()
}
