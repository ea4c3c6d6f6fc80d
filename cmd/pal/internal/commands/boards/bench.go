package boards

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/bench"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
)

// Bench makes `pal bench`.
func Bench(a *cli.App) *cobra.Command {
	var peer string
	o := bench.Options{}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "measure a terminal, and compare it with an unguarded server",
		Long: "Measure a terminal over its own protocol. It drives outputs of the bench-sim board and presses and clears the e-stop:\n" +
			"use it on a simulated board. With --peer the comparison server of the source tree (test/peer, after `npm ci` there)\n" +
			"is measured by the same client, in turns.",
		Example: "  pal bench\n  pal bench --peer test/peer --json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return measure(cmd.Context(), a, o, peer) },
	}
	cmd.Flags().StringVar(&peer, "peer", "", "folder of the comparison server; its Python programs are timed too")
	cmd.Flags().IntVar(&o.Execs, "execs", 5_000, "exec round trips to measure")
	cmd.Flags().IntVar(&o.Repeat, "repeat", 5, "runs of each program")
	return cmd
}

func measure(ctx context.Context, a *cli.App, o bench.Options, peer string) (err error) {
	target, err := a.Target()
	if err != nil {
		return err
	}
	if o.Client, err = client.Dial(ctx, target); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Client.Close()) }()
	wire, err := bench.DialWire(ctx, target.URL, target.Token)
	if err != nil {
		return err
	}
	defer wire.Close()
	o.Wire, o.Note = wire, func(what string) { _, _ = fmt.Fprintln(a.Stderr, "measuring", what) }
	if peer != "" {
		p, err := bench.StartPeer(ctx, peer)
		if err != nil {
			return err
		}
		defer p.Close() //nolint:errcheck // a measured server has nothing left to lose
		o.Peer, o.Rows = p, filepath.Join(peer, "rows")
	}
	start := time.Now()
	rows, err := bench.Measure(ctx, o)
	if a.JSON {
		return errors.Join(err, a.PrintJSON(rows))
	}
	return errors.Join(err, bench.Table(a.Stdout, rows, time.Since(start)))
}
