package tasks

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/cmd/pal/internal/commands/code"
	"github.com/pal-terminal/pal/protocol"
)

// addFlags are the options of a new task.
type addFlags struct {
	brief                         protocol.Brief
	every, after, timeout, jitter time.Duration
	maxRuns                       int64
	persistent                    bool
	resources                     []string
	source                        string
}

func newAdd(a *cli.App) *cobra.Command {
	f := &addFlags{}
	cmd := &cobra.Command{
		Use:   "add --name NAME (--every D | --cron SPEC | --at TIME | --after D) (--code CODE | FILE | -)",
		Short: "hand the terminal a program to run on time; prints the task's id",
		Long: "add hands the terminal a program and says when it runs. The first run is one interval from now. With --persistent the task\n" +
			"survives restarts and losses of power, in its phase; it is on disk before its id is printed.",
		Example: "  pal task add --name blink --every 200ms --code 'LED.toggle()'\n" +
			"  pal task add --name water --cron '0 7 * * *' --tz Europe/Berlin --persistent --resource RELAY_1 water.py\n" +
			"  pal task add --name once --after 5s --code 'print(TEMP_ADC.read())'",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req, err := f.request(a, cmd, args)
			if err != nil {
				return err
			}
			return a.With(cmd.Context(), func(c *client.Client) error {
				answer, err := c.Register(cmd.Context(), req)
				if err != nil {
					return err
				}
				return a.Done(answer, "%s", answer.TaskID)
			})
		},
	}
	f.flags(cmd)
	return cmd
}

func (f *addFlags) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.brief.Name, "name", "", "name of the task")
	flags.DurationVar(&f.every, "every", 0, "run it so often, such as 200ms")
	flags.StringVar(&f.brief.Cron, "cron", "", "run it at the times of five fields: minute hour day month weekday")
	flags.StringVar(&f.brief.TimeZone, "tz", "", "time zone of --cron, such as Europe/Berlin (default: the terminal's)")
	flags.StringVar(&f.brief.At, "at", "", "run it once at a time, such as 2026-12-24T18:00:00+01:00")
	flags.DurationVar(&f.after, "after", 0, "run it once after so long")
	flags.BoolVar(&f.persistent, "persistent", false, "keep it over restarts and losses of power")
	flags.DurationVar(&f.timeout, "timeout", 0, "deadline of each run, such as 1s")
	flags.StringArrayVar(&f.resources, "resource", nil, "pin or bus that it needs for itself, or with :read to read (may be given again)")
	flags.StringVar(&f.brief.Misfire, "misfire", "", "runs that were missed: skip, once or all (default: once after a loss of power if --persistent, else skip)")
	flags.Int64Var(&f.maxRuns, "max-runs", 0, "end after so many runs")
	flags.DurationVar(&f.jitter, "jitter", 0, "start each run up to so much later, by chance")
	flags.StringVar(&f.brief.OnHubLoss, "on-hub-loss", "", "when the hub is lost: continue or hold (default continue)")
	flags.StringVar(&f.source, "code", "", "the program")
}

// request makes the registration that the command line asks for.
func (f *addFlags) request(a *cli.App, cmd *cobra.Command, args []string) (req protocol.Register, err error) {
	given, brief := cmd.Flags().Changed, f.brief
	if brief.Name == "" {
		return req, cli.Usagef("a task needs a name: --name NAME")
	}
	times := 0
	for _, name := range []string{"every", "cron", "at", "after"} {
		if given(name) {
			times++
		}
	}
	if times != 1 {
		return req, cli.Usagef("when is it to run? give one of --every, --cron, --at and --after")
	}
	if given("code") == (len(args) > 0) {
		return req, cli.Usagef("what is to run? give --code CODE, a FILE, or - for standard input")
	}
	for name, to := range map[string]struct {
		value time.Duration
		place **int64
	}{
		"every": {f.every, &brief.IntervalMS}, "after": {f.after, &brief.AfterMS}, "timeout": {f.timeout, &brief.TimeoutMS}, "jitter": {f.jitter, &brief.JitterMS},
	} {
		if !given(name) {
			continue
		}
		if to.value < 0 || to.value%time.Millisecond != 0 || to.value == 0 && (name == "every" || name == "timeout") {
			return req, cli.Usagef("--%s must be positive and of whole milliseconds, such as 200ms", name)
		}
		ms := to.value.Milliseconds()
		*to.place = &ms
	}
	if given("max-runs") {
		brief.MaxRuns = &f.maxRuns
	}
	if f.persistent {
		brief.Storage = "persistent"
	}
	if brief.Resources, err = cli.Uses(f.resources); err != nil {
		return req, err
	}
	req = protocol.Register{Brief: &brief, Code: f.source}
	if len(args) > 0 {
		req.Code, err = code.ReadCode(a, args[0])
	}
	return req, err
}

// span shows a time of milliseconds as the command line takes it.
func span(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d >= time.Hour && d%time.Hour == 0 {
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	if d >= time.Minute && d%time.Minute == 0 {
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}
