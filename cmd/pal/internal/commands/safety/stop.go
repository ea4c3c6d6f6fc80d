// Package safety has the commands of people who answer for a terminal: stop, release and token.
package safety

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/transport"
)

// Stop makes `pal stop`.
func Stop(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "stop [REASON]",
		Short:   "e-stop: every output safe, latched until a human releases it",
		Example: "  pal stop 'smoke at the pump'",
		RunE: func(cmd *cobra.Command, args []string) error {
			reason := strings.Join(args, " ")
			ack, err := stop(cmd.Context(), a, reason)
			if err != nil {
				return err
			}
			return a.Done(ack, "stopped: every output is safe and stays so until `pal release`")
		},
	}
}

// stop asks for the e-stop, again and again while the terminal is too busy to take the connection: that is the moment in
// which it is needed.
func stop(ctx context.Context, a *cli.App, reason string) (*protocol.Ack, error) {
	ctx, done := context.WithTimeoutCause(ctx, limits.StopPatience, errors.New("the terminal took no stop in time: use the hard-wired one"))
	defer done()
	for {
		ack, err := cli.Once[*protocol.Ack](ctx, a, protocol.TypeStop, &protocol.Stop{Reason: reason})
		if err == nil || !tooBusy(err) {
			if err != nil && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return ack, err
		}
		again := time.NewTimer(limits.StopRetry)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return nil, errors.Join(context.Cause(ctx), err)
		}
	}
}

func tooBusy(err error) bool {
	var refusal *protocol.Error
	return errors.Is(err, transport.ErrBusy) || errors.Is(err, transport.ErrClosed) ||
		errors.As(err, &refusal) && refusal.Code == protocol.CodeBusy
}

// Release makes `pal release`.
func Release(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "release [REASON]",
		Short:   "clear the e-stop, trips and faults; humans only, and nothing restarts by itself",
		Example: "  pal release 'hose replaced'",
		RunE: func(cmd *cobra.Command, args []string) error {
			ack, err := cli.Once[*protocol.Ack](cmd.Context(), a, protocol.TypeEstopClear, &protocol.EstopClear{Reason: strings.Join(args, " ")})
			if err != nil {
				return err
			}
			return a.Done(ack, "released: outputs may be driven again")
		},
	}
}
