// Command pal runs and operates PAL terminals: `pal up` starts one, the other commands speak to it with the PAL protocol
// as any other client would.
//
// # Model
//
// This package wires. The terminal of `pal up` is made by cmd/pal/internal/station; the other
// commands are in cmd/pal/internal/commands: thin clients of package client, on what cmd/pal/internal/cli shares. No command has a way to a pin that a remote client does not have.
//
// Every command that prints data prints it as JSON with --json. A command that fails prints one line, "pal: " and what to
// do next, on standard error; the exit code says what kind of failure it was (cmd/pal/internal/cli decides).
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
)

func main() {
	a := &cli.App{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
		Machine: []string{"/proc/self/exe", "vm"}, // this very program, also when its file was replaced meanwhile
	}
	os.Exit(command(a, os.Args[1:]))
}

// command runs one command line and returns its exit code.
func command(a *cli.App, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	defer stop()
	// The first signal ends the command in good order; a second one ends the process as it would without PAL.
	defer context.AfterFunc(ctx, stop)()
	root := newRoot(a)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && !a.Parsed {
		err = cli.Usage(err)
	}
	if line := cli.OneLine(err); line != "" {
		_, _ = fmt.Fprintln(a.Stderr, "pal: "+line) // what fails here has nowhere to be told
	}
	return cli.ExitCode(err)
}
