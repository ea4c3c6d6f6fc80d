package look

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/protocol"
)

// Events makes `pal events`.
func Events(a *cli.App) *cobra.Command {
	var (
		follow bool
		since  uint64
	)
	cmd := &cobra.Command{
		Use:     "events [NAME ...]",
		Short:   "what happened: the events that the terminal still holds",
		Example: "  pal events --json\n  pal events -f estop core1_restarted\n  pal events --since 120",
		RunE: func(cmd *cobra.Command, names []string) error {
			return a.With(cmd.Context(), func(c *client.Client) error {
				return events(cmd.Context(), a, c, names, since, follow)
			})
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what happens, until interrupted")
	cmd.Flags().Uint64Var(&since, "since", 0, "only events after this seq")
	return cmd
}

// events prints the ring and, when asked to follow, what comes after it. All events are asked for, whatever is shown: the
// ring's end is known by its newest seq, which may be of any name.
func events(ctx context.Context, a *cli.App, c *client.Client, names []string, since uint64, follow bool) error {
	status, err := c.Status(ctx)
	if err != nil {
		return err
	}
	if !follow && since >= status.EventSeq {
		return nil
	}
	events, cancel, err := c.Subscribe(ctx, nil, &since)
	if err != nil {
		return err
	}
	defer cancel()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return c.Err()
			}
			if !follow && e.Seq > status.EventSeq {
				return nil
			}
			if len(names) == 0 || slices.Contains(names, e.Event) {
				if err := printEvent(a, &e); err != nil {
					return err
				}
			}
			if !follow && e.Seq == status.EventSeq {
				return nil
			}
		case <-ctx.Done():
			if follow {
				return nil // being interrupted is how following ends
			}
			return ctx.Err()
		}
	}
}

func printEvent(a *cli.App, e *protocol.Event) error {
	if a.JSON {
		return a.PrintAnswer(e)
	}
	if e.Dropped > 0 {
		if _, err := fmt.Fprintf(a.Stdout, "(%d events were lost here)\n", e.Dropped); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(a.Stdout, "%6d  %s  %-18s %s\n", e.Seq, cli.Clock(e.TimestampMS), e.Event, shortEvent(e))
	return err
}

// shortEvent returns an event's data on a line that a person can read: `boot` carries the whole pin table, which
// `pal pins` shows better, so that only the number of its pins is printed.
func shortEvent(e *protocol.Event) string {
	var data map[string]jsontext.Value
	var pins []jsontext.Value
	if json.Unmarshal(e.Data, &data) != nil || json.Unmarshal(data["pins"], &pins) != nil {
		return string(e.Data)
	}
	data["pins"] = strconv.AppendInt(nil, int64(len(pins)), 10)
	short, err := json.Marshal(data)
	if err != nil {
		return string(e.Data)
	}
	return string(short)
}
