// Package code has the commands that run MicroPython on a terminal: exec, eval, run, repl, tool, interrupt and reset.
package code

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/cmd/pal/internal/show"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// execFlags are the options of commands that run code.
type execFlags struct {
	timeout   time.Duration
	session   string
	stream    bool
	echo      bool
	maxOutput int64
}

func (f *execFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.DurationVar(&f.timeout, "timeout", 0, "deadline, such as 500ms (default: the terminal's, 30s)")
	flags.StringVar(&f.session, "session", "", "session to run in; new is one that is thrown away (default: your own)")
	flags.BoolVar(&f.stream, "stream", false, "print output while the code runs")
	flags.BoolVar(&f.echo, "echo", false, "print the values of expressions, as a REPL does (default: for code of one line)")
	flags.Int64Var(&f.maxOutput, "max-output", 0, fmt.Sprintf("bytes of output kept, at most %d (default %d)", limits.OutputMax, limits.OutputDefault))
}

// request makes the exec of code with the flags that were given.
func (f *execFlags) request(cmd *cobra.Command, code string) (protocol.Exec, error) {
	e := protocol.Exec{Code: code, Session: f.session}
	if cmd.Flags().Changed("timeout") {
		if f.timeout < time.Millisecond {
			return e, cli.Usagef("--timeout must be positive, such as 500ms")
		}
		ms := f.timeout.Milliseconds()
		e.TimeoutMS = &ms
	}
	if cmd.Flags().Changed("echo") {
		e.Echo = &f.echo
	}
	if cmd.Flags().Changed("max-output") {
		e.MaxOutput = &f.maxOutput
	}
	return e, nil
}

// Exec makes `pal exec`.
func Exec(a *cli.App) *cobra.Command {
	var flags execFlags
	cmd := &cobra.Command{
		Use:   "exec [CODE | FILE | -]",
		Short: "run MicroPython and print what it prints",
		Long: "exec runs MicroPython on the terminal and prints its output; standard error goes to standard error.\n\n" +
			"The argument is code, the name of a file that exists, or - for standard input, which is also read when there is no\n" +
			"argument. Names survive from one exec to the next, as on a board. Ctrl-C interrupts the code.",
		Example: "  pal exec 'from machine import Pin; Pin(5, Pin.OUT).on()'\n" +
			"  pal exec --timeout 500ms blink.py\n  echo 'print(1 + 1)' | pal exec -",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			code, err := source(a, args)
			if err != nil {
				return err
			}
			req, err := flags.request(cmd, code)
			if err != nil {
				return err
			}
			return runOnce(cmd.Context(), a, req, flags.stream)
		},
	}
	flags.add(cmd)
	return cmd
}

// Eval makes `pal eval`.
func Eval(a *cli.App) *cobra.Command {
	var flags execFlags
	cmd := &cobra.Command{
		Use:     "eval EXPR",
		Short:   "print the value of a MicroPython expression",
		Long:    "eval prints the value of an expression as JSON; a text is printed without quotes, and what JSON cannot hold as its repr.",
		Example: "  pal eval 'ADC(1).read()'",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req, err := flags.request(cmd, args[0])
			if err != nil {
				return err
			}
			req.Eval = true
			return runOnce(cmd.Context(), a, req, false)
		},
	}
	cmd.Flags().DurationVar(&flags.timeout, "timeout", 0, "deadline, such as 500ms (default: the terminal's, 30s)")
	cmd.Flags().StringVar(&flags.session, "session", "", "session to evaluate in (default: your own)")
	return cmd
}

// Run makes `pal run`.
func Run(a *cli.App) *cobra.Command {
	var flags execFlags
	cmd := &cobra.Command{
		Use:     "run FILE",
		Short:   "run a MicroPython file, printing output as it comes",
		Example: "  pal run blink.py --timeout 10s",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			code, err := ReadCode(a, args[0])
			if err != nil {
				return err
			}
			req, err := flags.request(cmd, code)
			if err != nil {
				return err
			}
			return runOnce(cmd.Context(), a, req, true)
		},
	}
	flags.add(cmd)
	if err := cmd.Flags().MarkHidden("stream"); err != nil { // run always does
		panic(err)
	}
	return cmd
}

// source returns what the argument of exec stands for.
func source(a *cli.App, args []string) (string, error) {
	if len(args) == 0 || args[0] == "-" {
		if len(args) == 0 && show.IsTerminal(a.Stdin) {
			return "", cli.Usagef("nothing to run: give code, a file, or - for standard input")
		}
		return readAll(a, a.Stdin, "standard input")
	}
	word := args[0]
	if info, err := os.Stat(word); err == nil && info.Mode().IsRegular() {
		return ReadCode(a, word)
	}
	if strings.HasSuffix(word, ".py") && !strings.ContainsAny(word, " \n;()=") {
		return "", cli.Usagef("there is no file %s", word)
	}
	return word, nil
}

// ReadCode returns the code in a file, or on standard input for "-".
func ReadCode(a *cli.App, name string) (string, error) {
	if name == "-" {
		return readAll(a, a.Stdin, "standard input")
	}
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", cli.Usagef("there is no file %s", name)
	}
	if err != nil {
		return "", cli.Usage(err)
	}
	defer file.Close() //nolint:errcheck // nothing was written
	return readAll(a, file, name)
}

func readAll(a *cli.App, r io.Reader, name string) (string, error) {
	code, err := io.ReadAll(io.LimitReader(r, limits.CodeBytes+1))
	if err != nil {
		return "", cli.Usage(fmt.Errorf("read %s: %w", name, err))
	}
	if len(code) > limits.CodeBytes {
		return "", cli.Usagef("%s is longer than the %d bytes that one exec may have", name, limits.CodeBytes)
	}
	if !utf8.Valid(code) {
		return "", cli.Usagef("%s is not UTF-8 text", name)
	}
	return string(code), nil
}

// runOnce connects, runs one exec and prints what came of it.
func runOnce(ctx context.Context, a *cli.App, req protocol.Exec, stream bool) error {
	return a.With(ctx, func(c *client.Client) error { return execute(ctx, a, c, req, stream, a.Stdout, a.Stderr) })
}

// execute runs one exec, prints its output, value and fate, and returns the error that the exit code is made of.
func execute(ctx context.Context, a *cli.App, c *client.Client, req protocol.Exec, stream bool, stdout, stderr io.Writer) error {
	live := show.Live{Stdout: stdout, Stderr: stderr}
	var onOutput func(*protocol.Output)
	if stream && !a.JSON {
		onOutput = live.Take
	}
	result, err := c.ExecStream(ctx, req, onOutput)
	if err != nil {
		return err
	}
	return tell(a, result, &live, req.Eval, stdout, stderr)
}

// tell prints what a result says that has not been printed yet, with its value when that was asked for.
func tell(a *cli.App, result *protocol.Result, live *show.Live, value bool, stdout, stderr io.Writer) error {
	if a.JSON {
		return errors.Join(a.PrintAnswer(result), cli.Quiet(cli.ResultError(result)))
	}
	if err := live.Finish(result); err != nil {
		return err
	}
	if value && !result.Error {
		if _, err := fmt.Fprintln(stdout, show.Text(result.Value)); err != nil {
			return err
		}
	}
	for _, line := range remarks(result) {
		_, _ = fmt.Fprintln(stderr, "pal: "+line) // what fails here has nowhere to be told
	}
	return cli.Quiet(cli.ResultError(result))
}

// remarks returns what a result has to say beyond the program's own output.
func remarks(r *protocol.Result) []string {
	var lines []string
	switch {
	case r.Code == protocol.CodeDeadline && r.Rung <= 1:
		lines = append(lines, fmt.Sprintf("deadline after %d ms, rung %d: the code was interrupted, names and state survive", r.ExecTimeMS, r.Rung))
	case r.Code == protocol.CodeDeadline:
		lines = append(lines, fmt.Sprintf("deadline after %d ms, rung %d: the machine was killed and replaced, sessions start empty", r.ExecTimeMS, r.Rung))
	case r.Error && r.Exception == nil && r.Message != "":
		lines = append(lines, r.Message+cli.Nearest(r.Nearest))
	case r.Code == protocol.CodeInterrupted:
		lines = append(lines, "interrupted")
	}
	if r.VMRestarted && r.Code != protocol.CodeDeadline {
		lines = append(lines, "the machine was replaced: sessions start empty")
	}
	if r.Truncated {
		lines = append(lines, fmt.Sprintf("output was cut, %d bytes are missing: see --max-output", r.DroppedBytes))
	}
	if r.EffectsRefused > 0 && !r.Error { // an error says it itself
		lines = append(lines, fmt.Sprintf("the guard refused %d of the program's hardware calls", r.EffectsRefused))
	}
	return lines
}
