// Package cli is what the commands of pal share: the process's streams and environment, the way to a terminal, printing, and what
// an error is worth.
//
// # Model
//
// A command is a function that takes an [App] and returns a cobra command. It asks a terminal over package client, prints with the
// App (as JSON when --json was given), and returns an error; [OneLine] says what is printed of it and [ExitCode] what the process
// ends with. Both are decided here and nowhere else.
//
// # What it refuses
//
// The local token is given to the terminal that made it and to no other listener.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/cmd/pal/internal/show"
	"github.com/pal-terminal/pal/protocol"
)

// App is the process's streams and environment, and the flags that all commands have.
type App struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Machine        []string // start of the command line of the process that runs guest code

	JSON   bool   // --json
	Device string // --device
	State  string // --state

	Parsed bool // cobra accepted the command line: from here on errors are not about usage
}

// Group makes a command that only holds others: by itself it shows its help, and it knows no other words.
func Group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return Usagef("there is no command %q under %q: see `%s --help`", args[0], cmd.CommandPath(), cmd.CommandPath())
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	return cmd
}

// OneLine returns what to print of an error: nothing when all has been said.
func OneLine(err error) string {
	var said *silent
	if err == nil || errors.As(err, &said) {
		return ""
	}
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	if refusal := (*protocol.Error)(nil); errors.As(err, &refusal) {
		err = fmt.Errorf("%w%s", err, Nearest(refusal.Nearest))
	}
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// Nearest names what would have been allowed, for the end of a line.
func Nearest(allowed []string) string {
	if len(allowed) == 0 {
		return ""
	}
	return " (allowed: " + strings.Join(allowed, ", ") + ")"
}

// Consent asks the person at the keyboard; nil is yes.
func (a *App) Consent(ctx context.Context, question string) error {
	yes, err := show.Confirm(ctx, a.Stdin, a.Stderr, question)
	switch {
	case errors.Is(err, show.ErrNobody):
		return Usagef("%w: --yes says that it was looked at", err)
	case err == nil && !yes:
		return &FailedError{Message: "nothing was done"}
	}
	return err
}
