// Package audits has the command about the log of what was asked of a terminal and what came of it: audit.
package audits

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/cmd/pal/internal/show"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// Audit makes `pal audit`.
func Audit(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "the signed log of what was asked and what came of it: tail show verify export head",
		Example: "  pal audit tail -n 20\n  pal audit show t_1a2b3c4d_42\n  pal audit head > head.txt   # keep it elsewhere\n" +
			"  pal audit verify --head \"$(head -1 head.txt)\"",
	}
	cmd.AddCommand(newTail(a), newShow(a), newVerify(a), newExport(a), newHead(a))
	return cli.Group(cmd)
}

func newTail(a *cli.App) *cobra.Command {
	var (
		most   int64
		follow bool
	)
	cmd := &cobra.Command{
		Use: "tail", Short: "the newest entries", Example: "  pal audit tail -n 20\n  pal audit tail -f --json", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if most < 1 {
				return cli.Usagef("-n must be positive")
			}
			return a.With(cmd.Context(), func(c *client.Client) error {
				answer, err := c.Audit(cmd.Context(), protocol.Audit{Op: "tail", Limit: &most})
				if err != nil {
					return err
				}
				last, err := printEntries(a, answer.Entries, 0)
				if err != nil || !follow {
					return err
				}
				return tail(cmd.Context(), a, c, last)
			})
		},
	}
	cmd.Flags().Int64VarP(&most, "number", "n", 10, "so many entries")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what is written, until interrupted")
	return cmd
}

// tail prints what comes after an entry, until it is interrupted. The log is asked only when its head has moved.
func tail(ctx context.Context, a *cli.App, c *client.Client, last uint64) error {
	tick := time.NewTicker(limits.PinsWatch)
	defer tick.Stop()
	for head := ""; ; {
		select {
		case <-ctx.Done():
			return nil // being interrupted is how following ends
		case <-tick.C:
		}
		status, err := c.Status(ctx)
		if err == nil && status.AuditHead != head {
			head = status.AuditHead
			last, err = since(ctx, a, c, last)
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// since prints all entries after one and returns the seq of the last.
func since(ctx context.Context, a *cli.App, c *client.Client, last uint64) (uint64, error) {
	for {
		answer, err := c.Audit(ctx, protocol.Audit{Op: "export", Since: &last})
		if err != nil {
			return last, err
		}
		before := last
		if last, err = printEntries(a, answer.Entries, last); err != nil || !answer.More {
			return last, err
		}
		if last <= before {
			return last, fmt.Errorf("audit: the terminal repeats itself after entry %d", before)
		}
	}
}

func newShow(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "show TRACE", Short: "all entries about one request or run", Example: "  pal audit show t_1a2b3c4d_42", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(cmd.Context(), func(c *client.Client) error {
				answer, err := c.Audit(cmd.Context(), protocol.Audit{Op: "show", Trace: args[0]})
				if err != nil {
					return err
				}
				if len(answer.Entries) == 0 {
					return &protocol.Error{Code: protocol.CodeNotFound, Message: "the audit log has nothing about " + args[0]}
				}
				for _, raw := range answer.Entries {
					if a.JSON {
						err = a.PrintLine(raw)
					} else {
						_, err = fmt.Fprintf(a.Stdout, "%s\n", show.Tree(raw))
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

func newExport(a *cli.App) *cobra.Command {
	var from uint64
	cmd := &cobra.Command{
		Use: "export", Short: "all entries, as lines of JSON", Example: "  pal audit export > audit.jsonl", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			lines := *a
			lines.JSON = true
			return a.With(cmd.Context(), func(c *client.Client) error {
				_, err := since(cmd.Context(), &lines, c, from)
				return err
			})
		},
	}
	cmd.Flags().Uint64Var(&from, "since", 0, "only entries after this seq")
	return cmd
}

func newHead(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "head", Short: "the log's end and its signed checkpoint: what to keep elsewhere, for `pal audit verify --head`",
		Example: "  pal audit head", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.With(cmd.Context(), func(c *client.Client) error {
				one := int64(1)
				answer, err := c.Audit(cmd.Context(), protocol.Audit{Op: "tail", Limit: &one})
				if err != nil {
					return err
				}
				answer.Entries = nil
				return a.Done(answer, "%s\n\n%s\nkey %s", answer.End, answer.Note, answer.Key)
			})
		},
	}
}

// entry is what a line for people shows of an entry.
type entry struct {
	Seq    uint64 `json:"seq"`
	TimeMS int64  `json:"time_ms"`
	Kind   string `json:"kind"`
	Type   string `json:"type"`
	Actor  string `json:"actor"`
	Trace  string `json:"trace"`
	Data   jsontext.Value
}

// printEntries prints entries and returns the seq of the last, or before when there is none.
func printEntries(a *cli.App, entries []jsontext.Value, before uint64) (uint64, error) {
	for _, raw := range entries {
		var e entry
		if err := json.Unmarshal(raw, &e); err != nil {
			return before, fmt.Errorf("audit: an entry that cannot be read: %w", err)
		}
		before = e.Seq
		var err error
		if a.JSON {
			err = a.PrintLine(raw)
		} else {
			_, err = fmt.Fprintf(a.Stdout, "%6d  %s  %-10s %-14s %s\n", e.Seq, cli.Clock(e.TimeMS), show.Name(e.Kind), show.Name(cli.Or(e.Type, "-")),
				show.Name(strings.TrimSpace(e.Actor+" "+e.Trace)))
		}
		if err != nil {
			return before, err
		}
	}
	return before, nil
}
