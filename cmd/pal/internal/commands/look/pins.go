// Package look has the commands that show what a terminal does: pins, read, set, watch, events, status and conn.
package look

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/cmd/pal/internal/show"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// Pins makes `pal pins`.
func Pins(a *cli.App) *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use:     "pins",
		Short:   "the pin table: owner, mode, level, rules, who drove last, whose lease",
		Example: "  pal pins\n  pal pins --watch\n  pal pins --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.With(cmd.Context(), func(c *client.Client) error {
				if watch {
					return watchPins(cmd.Context(), a, c)
				}
				_, err := showPins(cmd.Context(), a, c)
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "print each pin again whenever it changed, until interrupted")
	return cmd
}

func showPins(ctx context.Context, a *cli.App, c *client.Client) (*protocol.Pins, error) {
	pins, err := c.Pins(ctx)
	if err != nil {
		return nil, err
	}
	if a.JSON {
		return pins, a.PrintAnswer(pins)
	}
	var rows [][]string
	for _, p := range pins.Pins {
		rows = append(rows, pinRow(p))
	}
	return pins, a.PrintTable("PIN NAME OWNER MODE LEVEL DRIVER LEASE RULES", rows)
}

// watchPins prints the table and then each pin that changed, until interrupted.
func watchPins(ctx context.Context, a *cli.App, c *client.Client) error {
	before, err := showPins(ctx, a, c)
	if err != nil {
		return err
	}
	tick := time.NewTicker(limits.PinsWatch)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil // being interrupted is how watching ends
		case <-tick.C:
		}
		now, err := c.Pins(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		for i, p := range now.Pins {
			if i < len(before.Pins) && reflect.DeepEqual(p, before.Pins[i]) {
				continue
			}
			if err := printPin(a, p); err != nil {
				return err
			}
		}
		before = now
	}
}

func printPin(a *cli.App, p protocol.PinState) error {
	if a.JSON {
		return a.PrintJSON(p)
	}
	_, err := fmt.Fprintf(a.Stdout, "%s  %s\n", time.Now().Format("15:04:05.000"), strings.Join(pinRow(p), "  "))
	return err
}

func pinRow(p protocol.PinState) []string {
	level := "-"
	switch {
	case p.Value != nil:
		level = strings.TrimSpace(strconv.FormatFloat(*p.Value, 'g', 6, 64) + " " + p.Unit)
	case p.Level != nil:
		level = strconv.Itoa(*p.Level)
	}
	rules := p.Rules
	if p.Tripped {
		rules = append([]string{"TRIPPED"}, rules...)
	}
	if p.Fault != "" {
		rules = append([]string{"FAULT: " + p.Fault}, rules...)
	}
	return []string{p.Pin, cli.Or(p.Name, "-"), p.Owner, cli.Or(p.Mode, "-"), level, cli.Or(p.Driver, "-"), cli.Or(p.Lease, "-"), cli.Or(strings.Join(rules, "; "), "-")}
}

// Read makes `pal read`.
func Read(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "read NAME",
		Short:   "read one pin, without the machine",
		Example: "  pal read BUTTON\n  pal read 1",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return pinResult(cmd.Context(), a, protocol.TypePinRead, &protocol.PinRead{Pin: protocol.PinName(args[0])})
		},
	}
}

// Set makes `pal set`.
func Set(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "set NAME 0|1",
		Short:   "drive one pin by the same rules as code, without the machine",
		Example: "  pal set LED 1",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			set := &protocol.PinSet{Pin: protocol.PinName(args[0])}
			switch args[1] {
			case "0":
			case "1":
				set.Value = 1
			default:
				return cli.Usagef("a level is 0 or 1, not %q", args[1])
			}
			return pinResult(cmd.Context(), a, protocol.TypePinSet, set)
		},
	}
}

// pinResult asks for one pin and prints its value.
func pinResult(ctx context.Context, a *cli.App, typ string, body any) error {
	result, err := cli.Once[*protocol.Result](ctx, a, typ, body)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintAnswer(result)
	}
	_, err = fmt.Fprintln(a.Stdout, show.Text(result.Value))
	return err
}
