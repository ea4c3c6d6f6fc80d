package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/cmd/pal/internal/boardfile"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/cmd/pal/internal/state"
	"github.com/pal-terminal/pal/cmd/pal/internal/station"
	"github.com/pal-terminal/pal/config"
	"github.com/pal-terminal/pal/limits"
)

// upFlags are the options of a terminal.
type upFlags struct {
	board, listen, name, readyFile, logLevel string
	heap                                     config.Size
	noAuth, noSandbox, main                  bool

	noAudit, realtime bool
	tasks             int
	watchdog, network string
}

func newUp(a *cli.App) *cobra.Command {
	return terminalCommand(a, "up", "start a guarded terminal, by default on a simulated board")
}

// newTerminal is `pal up` without what else will one day run beside a terminal; until then they are the same.
func newTerminal(a *cli.App) *cobra.Command {
	cmd := terminalCommand(a, "terminal", "the terminal alone, for now the same as `pal up`")
	cmd.Hidden = true
	return cmd
}

func terminalCommand(a *cli.App, name, short string) *cobra.Command {
	f := upFlags{heap: config.Size(limits.VMHeapDefault)}
	cmd := &cobra.Command{
		Use:   name,
		Short: short,
		Long: short + ".\n\nIt serves until SIGINT or SIGTERM, then makes every output safe and ends. SIGUSR1 is the e-stop.\n\n" +
			"With --main it runs /flash/boot.py and then /flash/main.py once it serves, as a board does after power-up, with the fewest\n" +
			"rights that either was written with. The first exec or tool of a client interrupts them; `pal events main_ended` tells\n" +
			"how they ended.\n\n" +
			"Every request and what came of it is written to a signed log before an output moves; when it cannot be written nothing may\n" +
			"be driven. --no-audit keeps none: then nothing is remembered past a restart. --watchdog feeds a device such as /dev/watchdog,\n" +
			"which resets the computer when the guard hangs. --network names the interface whose loss is told (default: that of the\n" +
			"default route). --realtime asks the kernel for priority and for memory that is not swapped, which makes tasks less late.\n\n" +
			"Flags beat the environment, which beats ~/.config/pal/pal.yaml, which beats /etc/pal/pal.yaml (keys: board listen\n" +
			"state name heap no_auth main no_audit tasks realtime watchdog network).",
		Example: "  pal " + name + "\n  pal " + name + " --board my-board.yaml --listen 127.0.0.1:7400 --state ./state\n" +
			"  pal " + name + " --main   # after: pal fs cp main.py :",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.Load(config.Sources{Files: config.Files(a.Getenv), Getenv: a.Getenv, Flags: f.layer(cmd, a)})
			if err != nil {
				return cli.Usage(err)
			}
			return up(cmd.Context(), a, cfg, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.board, "board", config.DefaultBoard, "board file, or name of a board that comes with pal")
	flags.StringVar(&f.listen, "listen", config.DefaultListen, "address to serve at")
	flags.StringVar(&f.name, "terminal-name", "", "name of this terminal (default: the machine's)")
	flags.Var(&f.heap, "heap", "Python heap of the machine")
	flags.BoolVar(&f.noAuth, "no-auth", false, "serve anybody; loopback only")
	flags.BoolVar(&f.main, "main", false, "run /flash/boot.py and /flash/main.py once it serves")
	flags.BoolVar(&f.noAudit, "no-audit", false, "keep no audit log: nothing is remembered past a restart")
	flags.IntVar(&f.tasks, "tasks", limits.TasksDefault, "tasks at most; 0 for none and no machine for them")
	flags.BoolVar(&f.realtime, "realtime", false, "ask the kernel for priority and locked memory")
	flags.StringVar(&f.watchdog, "watchdog", "", "device of the hardware watchdog to feed, such as /dev/watchdog")
	flags.StringVar(&f.network, "network", "", "network interface to watch, such as eth0")
	flags.BoolVar(&f.noSandbox, "unsafe-no-sandbox", false, "serve although programs could reach this computer, because its sandbox is missing")
	flags.StringVar(&f.readyFile, "ready-file", "", "file to write {\"addr\",\"token\"} to once the terminal serves")
	flags.StringVar(&f.logLevel, "log-level", "warn", "debug, info, warn or error, on standard error")
	return cmd
}

// layer returns what the command line says; a flag that was not given says nothing.
func (f *upFlags) layer(cmd *cobra.Command, a *cli.App) config.Layer {
	var l config.Layer
	given := cmd.Flags().Changed
	if given("board") {
		l.Board = &f.board
	}
	if given("listen") {
		l.Listen = &f.listen
	}
	if given("terminal-name") {
		l.Name = &f.name
	}
	if given("heap") {
		l.Heap = &f.heap
	}
	if given("no-auth") {
		l.NoAuth = &f.noAuth
	}
	if given("main") {
		l.Main = &f.main
	}
	if given("no-audit") {
		l.NoAudit = &f.noAudit
	}
	if given("tasks") {
		l.Tasks = &f.tasks
	}
	if given("realtime") {
		l.Realtime = &f.realtime
	}
	if given("watchdog") {
		l.Watchdog = &f.watchdog
	}
	if given("network") {
		l.Network = &f.network
	}
	if given("state") {
		l.State = &a.State
	}
	return l
}

// up runs a terminal until the context ends.
func up(ctx context.Context, a *cli.App, cfg *config.Config, f upFlags) (err error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return cli.Usagef("--log-level %q is not debug, info, warn or error", f.logLevel)
	}
	desc, err := loadBoard(cfg.Board)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(a.Stderr, &slog.HandlerOptions{Level: level}))
	s := station.New(station.Config{
		Settings: cfg, Board: desc, Machine: a.Machine, Cache: config.CacheDir(a.Getenv, cfg.State), NoSandbox: f.noSandbox,
		Version: productVersion(),
		Log:     log,
		Note:    func(line string) { _, _ = fmt.Fprintln(a.Stderr, line) },
	})
	defer func() {
		if stopErr := s.Stop(); err == nil || ctx.Err() != nil {
			err = stopErr // an order to end while it starts is no failure
		}
	}()
	if f.readyFile != "" { // one of an earlier run would be taken for this one's
		if err := os.Remove(f.readyFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("clear the ready file: %w", err)
		}
	}
	if err := s.Start(ctx); errors.Is(err, station.ErrNoDriver) {
		return cli.Usage(err)
	} else if err != nil {
		return err
	}
	if f.readyFile != "" {
		ready := map[string]string{"addr": s.Addr(), "token": s.AgentToken()}
		if err := state.WriteJSON(f.readyFile, ready); err != nil {
			return err
		}
	}
	if err := announce(a, s, cfg, desc); err != nil { // whoever reads no more is no reason to guard no more
		log.Warn("tell where the terminal is", "err", err)
	}
	return s.Wait(ctx)
}

// loadBoard finds a board by its file or its name.
func loadBoard(word string) (*board.Description, error) {
	if slices.Contains(load.Names(), word) {
		return load.Builtin(word)
	}
	if _, err := os.Stat(word); err != nil {
		return nil, cli.Usagef("there is no board file %s, and the boards that come with pal are: %s", word, strings.Join(load.Names(), ", "))
	}
	d, err := load.File(word)
	if problems, ok := errors.AsType[board.Problems](err); ok && len(problems) > 1 {
		return nil, &cli.FailedError{Message: fmt.Sprintf("%v (the first of %d findings: see `pal board lint %s`)", problems[:1], len(problems), cli.ShellWord(word))}
	}
	if err != nil {
		return nil, &cli.FailedError{Message: err.Error()}
	}
	return d, nil
}

// announce prints where the terminal is and how to use it.
func announce(a *cli.App, s *station.Station, cfg *config.Config, desc *board.Description) error {
	if a.JSON {
		return a.PrintJSON(map[string]any{"addr": s.Addr(), "url": s.URL(), "state": cfg.State, "pid": os.Getpid()})
	}
	env := ""
	usual := func(key string) string { // of a shell that nobody told about this terminal
		if key == config.EnvState {
			return ""
		}
		return a.Getenv(key)
	}
	if config.StateDir(usual) != cfg.State {
		env = "PAL_STATE=" + cli.ShellWord(cfg.State) + " "
	}
	code := boardfile.FirstCode(desc)
	raw, err := json.Marshal(code)
	if err != nil {
		return fmt.Errorf("encode the example: %w", err)
	}
	_, err = fmt.Fprintf(a.Stdout, "PAL terminal %q, board %s (%s mode), serves at %s\n"+
		"  try:    %s%s exec %s\n"+
		"  raw:    {\"version\":\"1\",\"id\":\"1\",\"type\":\"exec\",\"code\":%s}\n"+
		"  agents: Authorization: Bearer and the token in %s\n",
		cfg.Name, desc.Name, desc.Mode, s.URL(), env, commandWord(), cli.ShellWord(code), raw, s.AgentTokenFile())
	if err == nil && cfg.NoAuth {
		_, err = fmt.Fprintln(a.Stdout, "  no-auth: every program of this computer may use it without a token")
	}
	return err
}

// commandWord is what a person types to run this program: its name when the shell would find it, else its path.
func commandWord() string {
	self, err := os.Executable()
	if err != nil {
		return "pal"
	}
	if found, err := exec.LookPath("pal"); err == nil && sameFile(found, self) {
		return "pal"
	}
	if strings.Contains(os.Args[0], "/") {
		return cli.ShellWord(os.Args[0])
	}
	return cli.ShellWord(self)
}

func sameFile(a, b string) bool {
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	return errors.Join(errA, errB) == nil && os.SameFile(ia, ib)
}
