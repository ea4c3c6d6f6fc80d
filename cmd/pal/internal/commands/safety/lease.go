package safety

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/protocol"
)

// Lease makes `pal lease`.
func Lease(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "lease",
		Short:   "pins and buses for oneself: create ls release",
		Example: "  pal lease create RELAY_1 --hold\n  pal lease ls\n  pal lease release l_1",
	}
	cmd.AddCommand(newLeaseCreate(a), newLeaseList(a),
		&cobra.Command{
			Use: "release ID...", Short: "end leases; their outputs become safe", Example: "  pal lease release l_1", Args: cobra.MinimumNArgs(1),
			RunE: func(cmd *cobra.Command, ids []string) error {
				return a.With(cmd.Context(), func(c *client.Client) error {
					for _, id := range ids {
						info, err := c.LeaseRelease(cmd.Context(), id)
						if err != nil {
							return err
						}
						if err := tell(a, info, "lease "+id+" is released"); err != nil {
							return err
						}
					}
					return nil
				})
			},
		})
	return cli.Group(cmd)
}

// tell prints something of ours as JSON, or else the words.
func tell(a *cli.App, v any, words string) error {
	if a.JSON {
		return a.PrintJSON(v)
	}
	_, err := fmt.Fprintln(a.Stdout, words)
	return err
}

func newLeaseCreate(a *cli.App) *cobra.Command {
	var (
		lease      protocol.Lease
		ttl        time.Duration
		read, hold bool
	)
	cmd := &cobra.Command{
		Use:   "create RESOURCE...",
		Short: "claim pins and buses; prints the lease's id",
		Long: "create claims pins and buses, so that nobody else may drive them; RESOURCE:read claims nothing but keeps others from claiming it.\n" +
			"A lease ends with its connection: with --hold this command keeps it, and renews it, until it is interrupted; with --keep the\n" +
			"lease outlives this command and ends after --ttl.",
		Example: "  pal lease create RELAY_1 I2C0 --hold\n  pal lease create RELAY_1 --keep --ttl 10m",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if hold == lease.Keep {
				return cli.Usagef("a lease ends with its connection: give --hold to keep this command running, or --keep to let the lease outlive it")
			}
			if cmd.Flags().Changed("ttl") {
				ms := ttl.Milliseconds()
				if ms < 1 {
					return cli.Usagef("--ttl must be positive, such as 60s")
				}
				lease.TTLMS = &ms
			}
			if read {
				lease.Verb = protocol.VerbRead
			}
			if lease.Resources, err = cli.Uses(args); err != nil {
				return err
			}
			return a.With(cmd.Context(), func(c *client.Client) error {
				if hold {
					return holdLease(cmd.Context(), a, c, lease)
				}
				info, err := c.Lease(cmd.Context(), lease)
				if err != nil {
					return err
				}
				return tell(a, info, info.LeaseID)
			})
		},
	}
	cmd.Flags().DurationVar(&ttl, "ttl", 0, "how long it lives, with --hold from renewal to renewal (default 1m)")
	cmd.Flags().BoolVar(&lease.Keep, "keep", false, "let it outlive this command")
	cmd.Flags().BoolVar(&read, "read", false, "to read only")
	cmd.Flags().BoolVar(&hold, "hold", false, "stay and renew it, until interrupted")
	return cmd
}

// holdLease takes a lease and stays until it is interrupted, which is how holding ends, or the lease is lost.
func holdLease(ctx context.Context, a *cli.App, c *client.Client, lease protocol.Lease) error {
	hold, err := c.HoldLease(ctx, lease)
	if err != nil {
		return err
	}
	if err := tell(a, hold.Lease(), hold.Lease().LeaseID); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(a.Stderr, "pal: holding, Ctrl-C releases it") // what fails here has nowhere to be told
	<-hold.Done()
	return hold.Err()
}

func newLeaseList(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "list who has claimed what: leases, and the resources of tasks", Example: "  pal lease ls --json", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.With(cmd.Context(), func(c *client.Client) error {
				leases, err := c.Leases(cmd.Context())
				if err != nil {
					return err
				}
				if a.JSON {
					return a.PrintJSON(map[string]any{"leases": leases})
				}
				var rows [][]string
				for _, l := range leases {
					rows = append(rows, leaseRow(l))
				}
				return a.PrintTable("LEASE HOLDER RESOURCES SINCE EXPIRES ENDS-WITH", rows)
			})
		},
	}
}

func leaseRow(l protocol.LeaseInfo) []string {
	var words []string
	for _, u := range l.Resources {
		words = append(words, u.Resource+":"+cli.Or(u.Verb, protocol.VerbDrive))
	}
	ends := "its connection"
	switch {
	case l.Task != "":
		ends = "task " + l.Task
	case l.Keep:
		ends = "its time"
	}
	return []string{l.LeaseID, l.Holder, strings.Join(words, " "), cli.Clock(l.SinceMS), cli.Due(l.ExpiresMS), ends}
}
