//go:build unix

package endure

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pal-terminal/pal/audit"
	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/store"
	"github.com/pal-terminal/pal/test/palbin"
	"github.com/pal-terminal/pal/transport"
	"github.com/pal-terminal/pal/transport/ws"
)

// patience is how long a fact may take to come true on a busy machine.
const patience = 60 * time.Second

// program is the real `pal up`, started again and again in one state folder.
type program struct {
	t          *testing.T
	bin, state string
	agent      string // token
	cmd        *exec.Cmd
	ended      chan error
	log        strings.Builder

	mu    sync.Mutex // guards what follows
	told  []told
	sent  int
	cut   int            // sent and not answered before the end
	count map[string]int // executions in the log, by client and id
}

// told is a request and the answer that its client got, nil for none.
type told struct {
	client      string
	raw, answer []byte
}

// start starts it and returns how long it took until it served.
func (p *program) start() time.Duration {
	p.t.Helper()
	ready := filepath.Join(p.state, "..", "ready")
	os.Remove(ready)
	p.log.Reset()
	began := time.Now()
	p.cmd = exec.Command(p.bin, "up", "--listen", "127.0.0.1:0", "--ready-file", ready, "--state", p.state)
	p.cmd.Stderr = &p.log
	must(p.t, p.cmd.Start())
	ended := make(chan error, 1)
	p.ended = ended
	cmd := p.cmd
	go func() { ended <- cmd.Wait() }()
	again, late := time.NewTicker(2*time.Millisecond), time.NewTimer(patience)
	defer again.Stop()
	defer late.Stop()
	for {
		text, err := os.ReadFile(ready)
		var file struct{ Token string }
		if err == nil && json.Unmarshal(text, &file) == nil {
			p.agent = file.Token
			return time.Since(began)
		}
		select {
		case <-again.C:
		case err := <-ended:
			p.t.Fatalf("pal up ended: %v\n%s", err, p.log.String())
		case <-late.C:
			p.t.Fatalf("it does not serve\n%s", p.log.String())
		}
	}
}

// end sends a signal and waits for the end.
func (p *program) end(signal syscall.Signal) {
	p.t.Helper()
	must(p.t, p.cmd.Process.Signal(signal))
	<-p.ended
}

func (p *program) ctx() context.Context {
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	p.t.Cleanup(cancel)
	return ctx
}

func (p *program) human() *client.Client {
	p.t.Helper()
	target, err := client.FromState(p.state)
	must(p.t, err)
	target.Name = "human"
	c, err := client.Dial(p.ctx(), target)
	must(p.t, err)
	return c
}

func (p *program) dial(name string) transport.Conn {
	p.t.Helper()
	target, err := client.FromState(p.state)
	must(p.t, err)
	conn, err := ws.Dial(p.ctx(), target.URL, p.agent, name)
	must(p.t, err)
	return conn
}

// work sends execs that drive an output, one after another, until the terminal is gone, and keeps what it was told.
func (p *program) work(conn transport.Conn, name string, done *sync.WaitGroup) {
	defer done.Done()
	code := fmt.Sprintf("from machine import Pin\np = Pin(%q, Pin.OUT)\np.on()\np.off()\np.on()\n", map[string]string{"k0": "RELAY_1", "k1": "BUZZER", "k2": "STEPPER_1"}[name])
	for {
		p.mu.Lock()
		p.sent++
		id := fmt.Sprint("n", p.sent)
		p.mu.Unlock()
		raw, err := client.EncodeRequest(protocol.TypeExec, &id, &protocol.Exec{Code: code})
		if err != nil || conn.Write(p.t.Context(), raw) != nil {
			return
		}
		answer, err := conn.Read(p.t.Context())
		p.mu.Lock()
		p.told = append(p.told, told{name, raw, answer})
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// load lets clients work until a random moment, in which the process is killed.
func (p *program) load(rng *rand.Rand) {
	var done sync.WaitGroup
	for i := range 3 {
		name := fmt.Sprint("k", i)
		conn := p.dial(name)
		done.Add(1)
		go p.work(conn, name, &done)
	}
	<-time.After(time.Duration(50+rng.IntN(350)) * time.Millisecond)
	p.end(syscall.SIGKILL)
	done.Wait()
}

// SIGKILL under load, at random moments: after each start the outputs are safe, the log verifies against what clients saw of it, every
// answer stands, the task keeps its phase, and nothing ran twice.
func TestKilledUnderLoad(t *testing.T) {
	p := &program{t: t, bin: palbin.Build(t), state: filepath.Join(t.TempDir(), "state"), count: map[string]int{}}
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0)) //nolint:gosec // moments
	first := p.start()
	t.Cleanup(func() { p.cmd.Process.Kill() })
	h := p.human()
	every := int64(50)
	a, err := h.Register(p.ctx(), protocol.Register{
		Brief: &protocol.Brief{Name: "beat", IntervalMS: &every, Storage: "persistent"},
		Code:  "from machine import Pin\nPin('LED', Pin.OUT).toggle()\n",
	})
	must(t, err)
	h.Close()
	head, stopped := "", false
	var slowest, sum time.Duration
	rounds := soak(15)
	for range rounds {
		p.load(rng)
		took := p.start()
		slowest, sum = max(slowest, took), sum+took
		h := p.human()
		p.checkStart(h, head, stopped)
		p.checkTask(h, a, every)
		p.checkTold(rng)
		head, stopped = p.leave(h, stopped, rng)
		h.Close()
	}
	p.end(syscall.SIGTERM)
	twice := p.executions()
	t.Logf("%d rounds of kill -9: %d execs sent, %d acknowledged, %d cut off; start to serving: first %v, mean %v, slowest %v", rounds, p.sent, len(p.told), p.cut, first, sum/time.Duration(rounds), slowest)
	t.Logf("acknowledged records lost: 0, executed twice: %d", twice)
	if len(p.told) < rounds {
		t.Errorf("%d answers in %d rounds: it tests nothing", len(p.told), rounds)
	}
}

// checkStart looks at the outputs, the latch and the log.
func (p *program) checkStart(h *client.Client, head string, stopped bool) {
	p.t.Helper()
	pins, err := h.Pins(p.ctx())
	must(p.t, err)
	for _, s := range pins.Pins {
		if s.Safe != nil && s.Level != nil && *s.Level != *s.Safe && s.Name != "LED" { // the task has it
			p.t.Errorf("%s has level %d after the start", s.Name, *s.Level)
		}
	}
	status, err := h.Status(p.ctx())
	must(p.t, err)
	if status.Estop.Latched != stopped {
		p.t.Errorf("the e-stop is set: %v, want %v", status.Estop.Latched, stopped)
	}
	r, err := h.Audit(p.ctx(), protocol.Audit{Op: "verify", Head: head})
	must(p.t, err)
	if r.Report == nil || r.Report.Problem != "" {
		p.t.Errorf("the audit log does not verify with head %q: %+v", head, r.Report)
	}
	_, err = h.LeaveSafeMode(p.ctx()) // starts that end so soon are failed ones
	must(p.t, err)
}

func (p *program) checkTask(h *client.Client, a *protocol.TaskAnswer, every int64) {
	p.t.Helper()
	now, err := h.Task(p.ctx(), a.TaskID)
	must(p.t, err)
	if next := now.Task.NextMS; next != 0 && next > time.Now().UnixMilli() && (next-a.NextMS)%every != 0 {
		p.t.Errorf("the task is due at %d, which is off its phase %d of %d", next, a.NextMS%every, every)
	}
	if now.Task.State != "pending" && now.Task.State != "running" && now.Task.State != "held" {
		p.t.Errorf("the task is %s (%s)", now.Task.State, now.Task.Reason)
	}
}

// checkTold sends again what was answered, the newest and some of the rest, and what was not: that is done now, or never.
func (p *program) checkTold(rng *rand.Rand) {
	p.t.Helper()
	conns := map[string]transport.Conn{}
	for i, was := range p.told {
		if i < len(p.told)-30 && rng.IntN(10) > 0 && was.answer != nil {
			continue
		}
		if conns[was.client] == nil {
			conns[was.client] = p.dial(was.client)
		}
		must(p.t, conns[was.client].Write(p.ctx(), was.raw))
		answer, err := conns[was.client].Read(p.ctx())
		must(p.t, err)
		if was.answer == nil {
			p.told[i].answer = answer
			p.cut++
		} else if string(answer) != string(was.answer) {
			p.t.Errorf("lost: %s\nbefore %s\nnow    %s", was.raw, was.answer, answer)
		}
	}
	for _, c := range conns {
		c.Close("done")
	}
}

// leave ends the checks: with or without an e-stop, of which the next start must know.
func (p *program) leave(h *client.Client, stopped bool, rng *rand.Rand) (head string, set bool) {
	p.t.Helper()
	if stopped {
		must(p.t, h.EstopClear(p.ctx(), "a test"))
		list, err := h.Tasks(p.ctx())
		must(p.t, err)
		for _, info := range list.Tasks {
			if info.State == "held" {
				_, err := h.Resume(p.ctx(), info.TaskID)
				must(p.t, err)
			}
		}
	} else if set = rng.IntN(4) == 0; set {
		must(p.t, h.Stop(p.ctx(), "a test"))
	}
	one := int64(1)
	tail, err := h.Audit(p.ctx(), protocol.Audit{Op: "tail", Limit: &one})
	must(p.t, err)
	return tail.End, set
}

// executions verifies the files of the terminal that has ended, and counts what its log says was begun more than once.
func (p *program) executions() (twice int) {
	p.t.Helper()
	d, err := store.Folder(filepath.Join(p.state, "guard"))
	must(p.t, err)
	r, err := audit.VerifyFiles(p.t.Context(), d, "audit", "", nil)
	must(p.t, err)
	if r.Problem != "" {
		p.t.Errorf("the files of the audit log do not verify: entry %d: %s", r.Bad, r.Problem)
	}
	names, err := filepath.Glob(filepath.Join(p.state, "guard", "audit", "*.log"))
	must(p.t, err)
	for _, name := range names {
		text, err := os.ReadFile(name)
		must(p.t, err)
		for line := range strings.Lines(string(text)) {
			var e struct{ Kind, Type, Client, ID string }
			_, entry, _ := strings.Cut(line, " ")
			must(p.t, json.Unmarshal([]byte(entry), &e))
			if e.Kind == audit.KindIntent && e.Type == protocol.TypeExec {
				p.count[e.Client+" "+e.ID]++
			}
		}
	}
	for key, n := range p.count {
		if n > 1 {
			twice++
			p.t.Errorf("%s: begun %d times", key, n)
		}
	}
	for _, was := range p.told {
		var e struct{ ID string }
		must(p.t, json.Unmarshal(was.raw, &e))
		if p.count[was.client+" "+e.ID] == 0 {
			p.t.Errorf("lost: %s: it was answered, and there is no record of it", was.raw)
		}
	}
	return twice
}
