package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// newRoot returns the whole command tree.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "pal",
		Short: "operate real hardware with MicroPython, behind a guard",
		Long: "pal runs a guarded terminal that executes MicroPython, and operates it.\n\n" +
			"PAL is not a certified safety function: keep hard-wired stops.",
		Example:       "  pal up\n  pal exec 'from machine import Pin; Pin(5, Pin.OUT).on()'",
		Version:       productVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("there is no command %q: see `pal help`", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRun: func(*cobra.Command, []string) {
			a.parsed = true
		},
	}
	root.CompletionOptions.HiddenDefaultCmd = true // it works; the list has to fit a screen
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageHint(cmd, err) })
	flags := root.PersistentFlags()
	flags.BoolVar(&a.json, "json", false, "print data as JSON")
	flags.StringVar(&a.device, "device", "", "terminal: ws://HOST:PORT/pal (or PAL_DEVICE and PAL_TOKEN; default: the local one)")
	flags.StringVar(&a.device, "url", "", "the same as --device")
	flags.StringVar(&a.state, "state", "", "state folder (or PAL_STATE)")
	if err := flags.MarkHidden("url"); err != nil {
		panic(err) // the flag is defined above
	}
	root.AddCommand(
		newUp(a), newTerminal(a), newVM(a),
		newExec(a), newEval(a), newRun(a), newREPL(a), newInterrupt(a),
		newPins(a), newRead(a), newSet(a),
		newStop(a), newRelease(a), newReset(a),
		newStatus(a), newEvents(a), newConn(a), newToken(a),
		newSim(a), newBoard(a), newBench(a), newDoctor(a), newVersion(a),
	)
	hintArgs(root)
	return root
}

// hintArgs lets every command that counts its arguments say where their meaning is told.
func hintArgs(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			return usageHint(cmd, check(cmd, args))
		}
	}
	for _, sub := range cmd.Commands() {
		hintArgs(sub)
	}
}

// usageHint adds to an error of cobra's where to read on; errors of our own say it themselves.
func usageHint(cmd *cobra.Command, err error) error {
	if _, ours := errors.AsType[*usageError](err); err == nil || ours {
		return err
	}
	return usagef("%w: see `%s --help`", err, cmd.CommandPath())
}
