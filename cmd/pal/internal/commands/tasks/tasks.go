// Package tasks has the command about what a terminal does by itself, on time: task.
package tasks

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/protocol"
)

// Task makes `pal task`.
func Task(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "task",
		Short: "programs that the terminal runs on time: add ls show pause resume trigger rm",
		Long: "A task is a program that the terminal runs on time, with nobody connected. It keeps its names from run to run, and the outputs\n" +
			"that it claims are its own until it is removed.",
		Example: "  pal task add --name blink --every 200ms --code 'LED.toggle()'\n  pal task ls\n  pal task rm 001",
	}
	cmd.AddCommand(newAdd(a), newList(a), newShow(a), newResult(a),
		newVerb(a, "pause", "let a task run no more until it is resumed", "is paused", (*client.Client).Pause),
		newVerb(a, "resume", "let a paused task run again", "runs again", (*client.Client).Resume),
		newVerb(a, "trigger", "run a task now; its schedule stays as it is", "is to run now", (*client.Client).Trigger),
		newVerb(a, "rm", "end a task and make its outputs safe", "is ended", (*client.Client).Cancel))
	return cli.Group(cmd)
}

// newVerb makes a command that does one thing to each of its tasks.
func newVerb(a *cli.App, verb, short, done string, do func(*client.Client, context.Context, string) (*protocol.TaskAnswer, error)) *cobra.Command {
	return &cobra.Command{
		Use: verb + " ID...", Short: short, Example: "  pal task " + verb + " 001", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return a.With(cmd.Context(), func(c *client.Client) error {
				for _, id := range ids {
					answer, err := do(c, cmd.Context(), id)
					if err != nil {
						return fmt.Errorf("task %s: %w", id, err)
					}
					if err := a.Done(answer, "task %s %s", id, done); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

// schedule says in a few words when a task runs.
func schedule(b *protocol.Brief) string {
	switch {
	case b.IntervalMS != nil:
		return "every " + span(*b.IntervalMS)
	case b.Cron != "" && b.TimeZone != "":
		return "cron " + b.Cron + " " + b.TimeZone
	case b.Cron != "":
		return "cron " + b.Cron
	case b.AfterMS != nil:
		return "after " + span(*b.AfterMS)
	default:
		return "at " + b.At
	}
}

// uses lists resources as the command line takes them.
func uses(list []protocol.ResourceUse) []string {
	var words []string
	for _, u := range list {
		word := u.Resource
		if u.Verb == protocol.VerbRead {
			word += ":" + u.Verb
		}
		words = append(words, word)
	}
	return words
}

// lateness shows a time of microseconds.
func lateness(us int64) string {
	return fmt.Sprintf("%.1f ms", float64(us)/1e3)
}
