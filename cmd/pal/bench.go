package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/bench"
)

func newBench(a *app) *cobra.Command {
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
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.bench(cmd.Context(), o, peer) },
	}
	cmd.Flags().StringVar(&peer, "peer", "", "folder of the comparison server; its Python programs are timed too")
	cmd.Flags().IntVar(&o.Execs, "execs", 5_000, "exec round trips to measure")
	cmd.Flags().IntVar(&o.Repeat, "repeat", 5, "runs of each program")
	return cmd
}

func (a *app) bench(ctx context.Context, o bench.Options, peer string) (err error) {
	target, err := a.target()
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
	o.Wire, o.Note = wire, func(what string) { _, _ = fmt.Fprintln(a.stderr, "measuring", what) }
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
	if a.json {
		return errors.Join(err, a.printJSON(rows))
	}
	return errors.Join(err, table(a.stdout, rows, time.Since(start)))
}

// table prints the figures as a Markdown table, ready for docs/performance.md.
func table(out io.Writer, rows []bench.Row, took time.Duration) error {
	w := tabwriter.NewWriter(out, 0, 0, 1, ' ', 0)
	fmt.Fprintln(w, "| what\t| measured\t| unit\t| to reach\t| peer\t| ratio\t|")
	fmt.Fprintln(w, "| ---\t| ---\t| ---\t| ---\t| ---\t| ---\t|")
	for _, r := range rows {
		peer, ratio := "", ""
		if r.Peer != nil {
			peer, ratio = figure(*r.Peer), figure(*r.Ratio)
		}
		fmt.Fprintf(w, "| %s\t| %s\t| %s\t| %s\t| %s\t| %s\t|\n", r.Name, figure(r.Value), r.Unit, r.Goal, peer, ratio)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\nmeasured in %s\n", took.Round(time.Second))
	return err
}

func figure(v float64) string {
	switch {
	case v >= 1000:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}
