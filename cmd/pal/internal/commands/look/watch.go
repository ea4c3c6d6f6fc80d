package look

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/protocol"
)

// Watch makes `pal watch`.
func Watch(a *cli.App) *cobra.Command {
	var (
		edge                     string
		above, below, hysteresis float64
		most                     int
	)
	cmd := &cobra.Command{
		Use:   "watch PIN",
		Short: "print the edges of a pin, or when an analogue input crosses a threshold",
		Long: "watch prints what happens at a pin until it is interrupted: edges, or with --above, --below or both, in the unit of the input,\n" +
			"that an analogue input crosses a threshold.",
		Example: "  pal watch BUTTON --edge falling --count 1\n  pal watch TEMP_ADC --above 45 --hysteresis 2",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			pin, given := protocol.PinName(args[0]), cmd.Flags().Changed
			w := protocol.Watch{Pin: &pin, Edge: edge}
			if given("above") || given("below") || given("hysteresis") {
				w = protocol.Watch{ADC: &pin, Edge: edge}
			}
			for name, place := range map[string]**float64{"above": &w.Above, "below": &w.Below, "hysteresis": &w.Hysteresis} {
				if given(name) {
					*place = map[string]*float64{"above": &above, "below": &below, "hysteresis": &hysteresis}[name]
				}
			}
			if most < 0 {
				return cli.Usagef("--count must be positive")
			}
			return a.With(cmd.Context(), func(c *client.Client) error { return watchPin(cmd.Context(), a, c, w, most) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&edge, "edge", "", "rising, falling or both (default both)")
	flags.Float64Var(&above, "above", 0, "tell when an analogue input is above this")
	flags.Float64Var(&below, "below", 0, "tell when an analogue input is below this")
	flags.Float64Var(&hysteresis, "hysteresis", 0, "how far back past a threshold ends its state")
	flags.IntVar(&most, "count", 0, "end after so many events (default: when interrupted)")
	return cmd
}

// watchPin prints what is told of a pin. Being interrupted is how it ends.
func watchPin(ctx context.Context, a *cli.App, c *client.Client, w protocol.Watch, most int) error {
	events, cancel, err := c.Subscribe(ctx, []string{"pin_change", "adc_threshold"}, nil)
	if err != nil {
		return err
	}
	defer cancel()
	if err := c.Watch(ctx, w); err != nil { // which ends with the connection
		return err
	}
	if _, err := fmt.Fprintln(a.Stderr, "pal: watching, Ctrl-C ends"); err != nil {
		return err
	}
	for n := 0; most == 0 || n < most; n++ {
		select {
		case e, ok := <-events:
			if !ok {
				return c.Err()
			}
			if err := printEvent(a, &e); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}
