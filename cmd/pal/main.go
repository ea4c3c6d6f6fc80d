// Command pal runs and operates PAL terminals: `pal up` starts one, the other commands speak to it with the PAL protocol
// as any other client would.
//
// # Model
//
// This package wires. The terminal of `pal up` is made by cmd/pal/internal/station; the commands are thin clients of package client, and
// what more than one line of them needs is in the other packages of cmd/pal/internal. No command has a way to a pin that a remote client does not have.
//
// Every command that prints data prints it as JSON with --json. A command that fails prints one line, "pal: " and what to
// do next, on standard error; the exit code says what kind of failure it was (see exit.go, the one place that decides).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/pal-terminal/pal/protocol"
)

func main() {
	a := &app{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv,
		machine: []string{"/proc/self/exe", "vm"}, // this very program, also when its file was replaced meanwhile
	}
	os.Exit(a.main(os.Args[1:]))
}

// app is what the commands share: the process's streams and environment, and the flags that all of them have.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	machine        []string // start of the command line of the process that runs guest code

	json   bool   // --json
	device string // --device
	state  string // --state

	parsed bool // cobra accepted the command line: from here on errors are not about usage
}

// main runs one command line and returns its exit code.
func (a *app) main(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	defer stop()
	// The first signal ends the command in good order; a second one ends the process as it would without PAL.
	defer context.AfterFunc(ctx, stop)()
	root := newRoot(a)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && !a.parsed {
		err = usage(err)
	}
	if line := oneLine(err); line != "" {
		_, _ = fmt.Fprintln(a.stderr, "pal: "+line) // what fails here has nowhere to be told
	}
	return exitCode(err)
}

// oneLine returns what to print of an error: nothing when all has been said.
func oneLine(err error) string {
	var said *silent
	if err == nil || errors.As(err, &said) {
		return ""
	}
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	if refusal := (*protocol.Error)(nil); errors.As(err, &refusal) {
		err = fmt.Errorf("%w%s", err, nearest(refusal.Nearest))
	}
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
