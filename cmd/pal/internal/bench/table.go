package bench

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Table prints the figures as a Markdown table, ready for docs/performance.md.
func Table(out io.Writer, rows []Row, took time.Duration) error {
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
