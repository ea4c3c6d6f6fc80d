package endure

import (
	"context"
	"strings"
	"sync"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/sim"
	"github.com/pal-terminal/pal/hw"
)

// notes is what really happened, over all lives of a world. A token stands for one command, or one task.
type notes struct {
	mu     sync.Mutex     // guards what follows
	owner  map[int]string // pin: the token that drives it now
	drives map[string]int // token: how often an output was driven from safe to not safe for it, while there was power
	runs   map[string]int // token: how often its code was started
	total  int            // drives, but for those of tasks
	dead   map[string]bool
	ghosts []string // tokens in dead that were started
}

func newNotes() *notes {
	return &notes{owner: map[int]string{}, drives: map[string]int{}, runs: map[string]int{}, dead: map[string]bool{}}
}

func (n *notes) own(pin int, token string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.owner[pin] = token
}

func (n *notes) started(token string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.runs[token]++; n.dead[token] {
		n.ghosts = append(n.ghosts, token)
	}
}

func (n *notes) drove(pin int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	token := n.owner[pin]
	if n.drives[token]++; !isTask(token) {
		n.total++
	}
}

func isTask(token string) bool {
	return strings.HasPrefix(token, "shot") || strings.HasPrefix(token, "tick")
}

// of returns the drives and runs of a token, and the drives of all commands.
func (n *notes) of(token string) (drives, runs, total int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.drives[token], n.runs[token], n.total
}

// bury says that a token's code must not be started any more.
func (n *notes) bury(token string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dead[token] = true
}

// bench is the simulated board with an eye on what is driven.
type bench struct {
	*sim.Board
	d     *board.Description
	notes *notes
	power func() bool // what is driven without power is driven by nobody
}

func (b *bench) Configure(pin int, mode hw.Mode, pull hw.Pull, level int) error {
	if mode == hw.ModeOut || mode == hw.ModeOpenDrain {
		b.look(pin, level)
	}
	return b.Board.Configure(pin, mode, pull, level)
}

func (b *bench) Set(pin, level int) error {
	b.look(pin, level)
	return b.Board.Set(pin, level)
}

func (b *bench) look(pin, level int) {
	if level != b.d.Pins[pin].Safe && b.power() {
		b.notes.drove(pin)
	}
}

// unsafe counts the outputs that have another level than their safe one.
func (b *bench) unsafe() (n int) {
	for i, p := range b.d.Pins {
		if p.Safe < 0 || !p.Can.Any(board.CapOut) {
			continue
		}
		if level, err := b.Get(i); err != nil || level != p.Safe {
			n++
		}
	}
	return n
}

// machine is an hw.Executor that runs programs of one line: a verb, a pin, and the token of who is to blame.
type machine struct {
	notes *notes
	power func() bool
	kill  chan struct{}
	once  sync.Once
	busy  sync.Mutex // held by Run

	mu  sync.Mutex // guards gen
	gen uint64
}

func newMachine(n *notes, power func() bool) *machine {
	return &machine{notes: n, power: power, kill: make(chan struct{}), gen: 1}
}

func (m *machine) Run(ctx context.Context, job hw.Job, sink hw.Sink) hw.Outcome {
	m.busy.Lock()
	defer m.busy.Unlock()
	select {
	case <-m.kill:
		return hw.Outcome{Died: true, Cause: "closed"}
	case <-ctx.Done():
		return hw.Outcome{}
	default:
	}
	if job.Generation != 0 && job.Generation != m.Generation() {
		return hw.Outcome{Stale: true}
	}
	out := hw.Outcome{Started: true, Fuel: 1}
	words := strings.Fields(job.Code)
	if job.Kind == hw.JobExec && len(words) == 3 && m.power() {
		m.notes.started(words[2])
		m.program(ctx, words[0], words[1], words[2], sink, &out)
	}
	if out.Died {
		m.fresh()
	}
	return out
}

// program does what a line says. Each drives its pin from safe to not safe at most once.
func (m *machine) program(ctx context.Context, verb, name, token string, sink hw.Sink, out *hw.Outcome) {
	open := sink.Call(ctx, hw.Call{Op: hw.OpPinOpen, Text: name})
	pin := uint16(open.Value)
	m.notes.own(int(pin), token)
	var calls []hw.Call
	switch verb {
	case "on", "spin", "die":
		calls = []hw.Call{{Op: hw.OpPinWrite, A: 1}}
	case "off":
		calls = []hw.Call{{Op: hw.OpPinWrite, A: 0}}
	case "toggle":
		calls = []hw.Call{{Op: hw.OpPinToggle}}
	case "pulse":
		calls = []hw.Call{{Op: hw.OpPinWrite, A: 1}, {Op: hw.OpPinWrite, A: 0}}
	case "read":
		calls = []hw.Call{{Op: hw.OpPinRead}}
	}
	for _, c := range calls {
		c.Pin = pin
		if r := sink.Call(ctx, c); r.Errno != 0 {
			out.Refusal = r.Refusal
			out.Exception = &hw.Exception{Class: "OSError", Message: r.Text, Line: 1}
			return
		}
	}
	sink.Output(hw.Stdout, []byte(verb+" "+token+"\n"))
	switch verb {
	case "die":
		out.Died, out.Cause = true, "it died"
	case "spin":
		select {
		case <-m.kill:
			out.Died, out.Cause = true, "closed"
		case <-ctx.Done():
			out.Rung, out.Exception = hw.RungInterrupt, &hw.Exception{Class: "KeyboardInterrupt", Line: 1}
		}
	}
}

func (m *machine) fresh() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gen++
}

func (m *machine) Edge(hw.Edge) bool { return false }

func (m *machine) Generation() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gen
}

func (m *machine) Reset(context.Context) error { m.fresh(); return nil }

func (m *machine) Close() error {
	m.once.Do(func() { close(m.kill) })
	m.busy.Lock()
	defer m.busy.Unlock()
	return nil
}
