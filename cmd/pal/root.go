package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/cmd/pal/internal/commands/audits"
	"github.com/pal-terminal/pal/cmd/pal/internal/commands/boards"
	"github.com/pal-terminal/pal/cmd/pal/internal/commands/code"
	"github.com/pal-terminal/pal/cmd/pal/internal/commands/files"
	"github.com/pal-terminal/pal/cmd/pal/internal/commands/look"
	"github.com/pal-terminal/pal/cmd/pal/internal/commands/safety"
	"github.com/pal-terminal/pal/cmd/pal/internal/commands/tasks"
)

// newRoot returns the whole command tree.
func newRoot(a *cli.App) *cobra.Command {
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
				return cli.Usagef("there is no command %q: see `pal help`", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRun: func(*cobra.Command, []string) {
			a.Parsed = true
		},
	}
	root.CompletionOptions.HiddenDefaultCmd = true // it works; the list has to fit a screen
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageHint(cmd, err) })
	flags := root.PersistentFlags()
	flags.BoolVar(&a.JSON, "json", false, "print data as JSON")
	flags.StringVar(&a.Device, "device", "", "terminal: ws://HOST:PORT/pal (or PAL_DEVICE and PAL_TOKEN; default: the local one)")
	flags.StringVar(&a.Device, "url", "", "the same as --device")
	flags.StringVar(&a.State, "state", "", "state folder (or PAL_STATE)")
	if err := flags.MarkHidden("url"); err != nil {
		panic(err) // the flag is defined above
	}
	for _, g := range groups(a) {
		for _, cmd := range g.commands {
			cmd.GroupID = g.name
			root.AddCommand(cmd)
		}
		root.AddGroup(&cobra.Group{ID: g.name, Title: g.name})
	}
	root.SetHelpCommandGroupID("look")
	root.AddCommand(safety.Deny(a))           // told of by approve
	root.AddCommand(newTerminal(a), newVM(a)) // hidden
	plain := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd == root {
			_, _ = io.WriteString(a.Stdout, overview(root)) // what fails here has nowhere to be told
			return
		}
		plain(cmd, args)
	})
	hintArgs(root)
	return root
}

// commandGroup is a group of commands, as the overview shows them.
type commandGroup struct {
	name     string
	commands []*cobra.Command
}

func groups(a *cli.App) []commandGroup {
	return []commandGroup{
		{"start", []*cobra.Command{newUp(a), newDoctor(a)}},
		{"run", []*cobra.Command{code.Exec(a), code.Eval(a), code.Run(a), code.REPL(a), code.Tool(a), code.Interrupt(a), code.Reset(a), tasks.Task(a)}},
		{"files", []*cobra.Command{files.FS(a), files.Edit(a), files.Mip(a)}},
		{"pins", []*cobra.Command{look.Pins(a), look.Read(a), look.Set(a), look.Watch(a)}},
		{"safety", []*cobra.Command{safety.Stop(a), safety.Release(a), safety.Lease(a), safety.Approvals(a), safety.Approve(a), safety.SafeMode(a)}},
		{"look", []*cobra.Command{look.Status(a), look.Events(a), look.Conn(a), safety.Token(a), audits.Audit(a)}},
		{"bench", []*cobra.Command{boards.Sim(a), boards.Board(a), boards.Bench(a), newVersion(a)}},
	}
}

// overview is what `pal help` says: every command with a line of its own, and no more lines than a screen has.
func overview(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n\n", root.Long, root.Example)
	for _, g := range root.Groups() {
		title := g.Title
		for _, cmd := range root.Commands() {
			if cmd.GroupID == g.ID && cmd.Name() != "help" {
				fmt.Fprintf(&b, "%-7s %-10s %s\n", title, cmd.Name(), cmd.Short)
				title = ""
			}
		}
	}
	fmt.Fprintf(&b, "\n%s\nUse `pal COMMAND --help` for more about a command.\n", strings.TrimSuffix(root.PersistentFlags().FlagUsages(), "\n"))
	return b.String()
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
	if err == nil || cli.IsUsage(err) {
		return err
	}
	return cli.Usagef("%w: see `%s --help`", err, cmd.CommandPath())
}
