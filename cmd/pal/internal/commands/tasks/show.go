package tasks

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/cmd/pal/internal/show"
	"github.com/pal-terminal/pal/protocol"
)

func newList(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "list the tasks", Example: "  pal task ls --json", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.With(cmd.Context(), func(c *client.Client) error {
				answer, err := c.Tasks(cmd.Context())
				if err != nil {
					return err
				}
				if a.JSON {
					return a.PrintAnswer(answer)
				}
				var rows [][]string
				for _, t := range answer.Tasks {
					rows = append(rows, row(&t))
				}
				return a.PrintTable("ID NAME STATE SCHEDULE NEXT RUNS LATE-P99 LAST", rows)
			})
		},
	}
}

func row(t *protocol.TaskInfo) []string {
	late, last := "-", "-"
	if t.Lateness != nil {
		late = lateness(t.Lateness.P99US)
	}
	if t.Last != nil {
		last = t.Last.Outcome
	}
	return []string{
		t.TaskID, show.Name(t.Name), t.State, schedule(&t.Brief), cli.Due(t.NextMS), strconv.FormatUint(t.Runs, 10), late, last,
	}
}

func newShow(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "all about a task: brief, code, lateness, what it missed, its last runs", Example: "  pal task show 001", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(cmd.Context(), func(c *client.Client) error {
				answer, err := c.Task(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				results, err := c.TaskResults(cmd.Context(), args[0], 0)
				if err != nil {
					return err
				}
				if answer.Task == nil {
					return fmt.Errorf("task %s: the terminal told nothing of it", args[0])
				}
				if a.JSON {
					return a.PrintJSON(map[string]any{"task": answer.Task, "runs": results.Runs})
				}
				_, err = io.WriteString(a.Stdout, about(answer.Task)+runs(results.Runs))
				return err
			})
		},
	}
}

// about is all that is known of a task, for people.
func about(t *protocol.TaskInfo) string {
	var b strings.Builder
	line := func(key, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" {
			fmt.Fprintf(&b, "%-10s %s\n", key, text)
		}
	}
	line("task", "%s %s, of %s", t.TaskID, show.Name(t.Name), t.Actor)
	if t.Reason != "" {
		line("state", "%s: %s", t.State, t.Reason)
	} else {
		line("state", "%s", t.State)
	}
	line("schedule", "%s", schedule(&t.Brief))
	line("next", "%s", cli.Due(t.NextMS))
	line("storage", "%s", cli.Or(t.Brief.Storage, "volatile"))
	line("resources", "%s", strings.Join(uses(t.Brief.Resources), " "))
	line("misfire", "%s", t.Brief.Misfire)
	line("hub loss", "%s", t.Brief.OnHubLoss)
	if t.Brief.TimeoutMS != nil {
		line("timeout", "%s", span(*t.Brief.TimeoutMS))
	}
	if t.Brief.JitterMS != nil {
		line("jitter", "%s", span(*t.Brief.JitterMS))
	}
	if t.Brief.MaxRuns != nil {
		line("max runs", "%d", *t.Brief.MaxRuns)
	}
	line("created", "%s", cli.Clock(t.CreatedMS))
	line("runs", "%d, the newest %d failed", t.Runs, t.Failures)
	for _, reason := range slices.Sorted(maps.Keys(t.Missed)) {
		line("missed", "%d: %s", t.Missed[reason], reason)
	}
	if l := t.Lateness; l != nil {
		line("lateness", "p50 %s, p99 %s, at most %s, of %d runs", lateness(l.P50US), lateness(l.P99US), lateness(l.MaxUS), l.Count)
	}
	line("code", "sha256 %s", t.CodeSHA256)
	for text := range strings.Lines(t.Code) {
		fmt.Fprintf(&b, "  | %s\n", plain(text))
	}
	return b.String()
}

func newResult(a *cli.App) *cobra.Command {
	var most int64
	cmd := &cobra.Command{
		Use: "result ID", Short: "the last runs of a task, newest first", Example: "  pal task result 001 -n 3", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if most < 0 {
				return cli.Usagef("-n must be positive")
			}
			return a.With(cmd.Context(), func(c *client.Client) error {
				results, err := c.TaskResults(cmd.Context(), args[0], most)
				if err != nil {
					return err
				}
				if a.JSON {
					return a.PrintAnswer(results)
				}
				_, err = io.WriteString(a.Stdout, runs(results.Runs))
				return err
			})
		},
	}
	cmd.Flags().Int64VarP(&most, "number", "n", 0, "so many runs at most (default: all that are kept)")
	return cmd
}

// runs shows what runs of a task came to.
func runs(list []protocol.TaskRun) string {
	var b strings.Builder
	for _, r := range list {
		how := r.Cause
		if r.Compensated {
			how += ", compensated"
		}
		fmt.Fprintf(&b, "run %d  %s  %s  due %s, late %s, took %v  %s\n", r.Run, r.Outcome, how, cli.Clock(r.DueMS), lateness(r.LatenessUS),
			(time.Duration(r.DurationUS) * time.Microsecond).Round(100*time.Microsecond), r.Trace)
		if r.Message != "" {
			fmt.Fprintf(&b, "  ! %s\n", show.Name(r.Message))
		}
		lines(&b, ">", r.Stdout)
		lines(&b, "2", r.Stderr)
	}
	return b.String()
}

// lines shows what a program wrote, marked as its own.
func lines(b *strings.Builder, mark, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(b, "  %s %s\n", mark, plain(line))
	}
}

// plain is a line of a program that can do nothing to a screen.
func plain(line string) string {
	return show.Name(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    "))
}
