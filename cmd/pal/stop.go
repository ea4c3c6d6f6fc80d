package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/transport"
)

func newStop(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "stop [REASON]",
		Short:   "e-stop: every output safe, latched until a human releases it",
		Example: "  pal stop 'smoke at the pump'",
		RunE: func(cmd *cobra.Command, args []string) error {
			reason := strings.Join(args, " ")
			ack, err := a.stop(cmd.Context(), reason)
			if err != nil {
				return err
			}
			return a.done(ack, "stopped: every output is safe and stays so until `pal release`")
		},
	}
}

// stop asks for the e-stop, again and again while the terminal is too busy to take the connection: that is the moment in
// which it is needed.
func (a *app) stop(ctx context.Context, reason string) (*protocol.Ack, error) {
	ctx, done := context.WithTimeoutCause(ctx, limits.StopPatience, errors.New("the terminal took no stop in time: use the hard-wired one"))
	defer done()
	for {
		ack, err := once[*protocol.Ack](ctx, a, protocol.TypeStop, &protocol.Stop{Reason: reason})
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

func newRelease(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "release [REASON]",
		Short:   "clear the e-stop, trips and faults; humans only, and nothing restarts by itself",
		Example: "  pal release 'hose replaced'",
		RunE: func(cmd *cobra.Command, args []string) error {
			ack, err := once[*protocol.Ack](cmd.Context(), a, protocol.TypeEstopClear, &protocol.EstopClear{Reason: strings.Join(args, " ")})
			if err != nil {
				return err
			}
			return a.done(ack, "released: outputs may be driven again")
		},
	}
}

func newReset(a *app) *cobra.Command {
	reset := &protocol.Reset{}
	cmd := &cobra.Command{
		Use:     "reset",
		Short:   "a new machine with empty sessions; with --session, forget that one only",
		Example: "  pal reset\n  pal reset --session test",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			answer, err := once[protocol.Answer](cmd.Context(), a, protocol.TypeReset, reset)
			if err != nil {
				return err
			}
			if reset.Session != "" {
				return a.done(answer, "session %s is forgotten", reset.Session)
			}
			return a.done(answer, "the machine was replaced; every session starts empty")
		},
	}
	cmd.Flags().StringVar(&reset.Session, "session", "", "forget this session instead of replacing the machine")
	return cmd
}

func newInterrupt(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "interrupt TRACE",
		Short:   "raise KeyboardInterrupt in a running exec (`pal status` shows its trace)",
		Example: "  pal interrupt t_1a2b3c4d_42",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			answer, err := once[protocol.Answer](cmd.Context(), a, protocol.TypeInterrupt, &protocol.Target{Target: args[0]})
			if err != nil {
				return err
			}
			return a.done(answer, "interrupted")
		},
	}
}
