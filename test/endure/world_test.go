package endure

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pal-terminal/pal/board"
	wire "github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/store/crash"
)

// world is all lives of one terminal: what its clients know, and what really happened.
type world struct {
	t           testing.TB
	seed        uint64
	rng         *rand.Rand
	desc        *board.Description
	dir         string // of the tokens
	human       string // tokens
	agent       string
	notes       *notes
	born        time.Time
	healthy     bool // the disk takes what is written
	commands    []*command
	tasks       []*job
	latch       latch
	head        string // newest that was seen of the audit log
	next        int
	unsafe      int  // outputs that were not safe when the table was there
	last        bool // this life is the last: everything is looked at
	latchBroken bool // this life's start said so
	count       *figures
}

// figures are what the test prints, over all worlds.
type figures struct {
	worlds, commands, sent, replays, acked, drives, restarts, cuts, tasks, stops, full atomic.Int64
	lost, double, unsafe                                                               atomic.Int64
}

func (f *figures) String() string {
	return fmt.Sprintf("%d worlds: %d commands (%d messages sent, %d of them replays), %d acknowledged, %d actuations, %d restarts, %d cuts, "+
		"%d spells of a full disk, %d e-stops, %d tasks\nacknowledged records lost: %d, double actuations: %d, outputs unsafe: %d",
		f.worlds.Load(), f.commands.Load(), f.sent.Load(), f.replays.Load(), f.acked.Load(), f.drives.Load(), f.restarts.Load(), f.cuts.Load(),
		f.full.Load(), f.stops.Load(), f.tasks.Load(), f.lost.Load(), f.double.Load(), f.unsafe.Load())
}

// latch is what clients may believe of the e-stop.
type latch int

const (
	mustBeClear latch = iota
	mustBeSet
	either // one that was not answered
)

// command is one request that changes something, and what its client knows of it.
type command struct {
	token, id, client string
	credential        string
	typ               string
	raw               []byte
	task              *job // that it registers or cancels
	set               int  // pin of a pin_set, -1

	acked []byte // its answer, nil before
	code  protocol.Code
	sure  bool // the disk took everything while it was carried out
	void  bool // it was answered before it began, of which there is no record
}

// job is a task.
type job struct {
	token    string
	id       string // empty before it is acknowledged
	interval time.Duration
	due      time.Time // of a one-shot
	phase    int64     // of the due times of an interval, in ms
	cancel   bool      // one was sent
	done     bool      // a cancel was acknowledged, or its end was seen
}

func newWorld(t testing.TB, seed uint64, s *setting, f *figures) *world {
	f.worlds.Add(1)
	return &world{
		t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 1)), desc: s.desc, dir: s.dir, human: s.human, agent: s.agent, notes: newNotes(),
		born: time.Now(), healthy: true, count: f,
	}
}

// setting is what worlds share.
type setting struct {
	desc              *board.Description
	dir, human, agent string
}

func newSetting(t testing.TB) *setting {
	s := &setting{desc: description(t), dir: t.TempDir()}
	tokens, err := identity.Open(s.dir, time.Now)
	must(t, err)
	local, err := tokens.EnsureLocal()
	must(t, err)
	s.human, s.agent = local.Human, local.Agent
	return s
}

func (w *world) failf(format string, args ...any) {
	w.t.Helper()
	w.t.Errorf("seed %d: "+format, append([]any{w.seed}, args...)...)
}

func (w *world) fresh(prefix string) string {
	w.next++
	return fmt.Sprintf("%s-%d", prefix, w.next)
}

// saw takes in what a start told of damage: a cut damages nothing that was written before.
func (w *world) saw(l *life, name string, data map[string]any) {
	text := fmt.Sprint(data["text"], data["problem"])
	if name == "store_damaged" && l.power() && !strings.HasPrefix(text, "audit") && !strings.HasPrefix(text, "estop") {
		w.failf("damaged: %v", data)
	}
	w.latchBroken = w.latchBroken || name == "store_damaged" && strings.HasPrefix(text, "estop")
}

// make makes a command of a client.
func (w *world) make(client, credential, typ string, body any, token string) *command {
	c := &command{token: token, id: token, client: client, credential: credential, typ: typ, set: -1}
	var err error
	c.raw, err = wire.EncodeRequest(typ, &c.id, body)
	must(w.t, err)
	w.commands = append(w.commands, c)
	w.count.commands.Add(1)
	return c
}

func (w *world) exec(client, verb, pin string, timeout int64) *command {
	token := w.fresh("x")
	return w.make(client, w.agent, protocol.TypeExec, &protocol.Exec{Code: strings.Join([]string{verb, pin, token}, " "), TimeoutMS: &timeout}, token)
}

// pinSet drives a pin that no other command does at the same time: see send.
func (w *world) pinSet(client string, level int) *command {
	token := w.fresh("p")
	name := fmt.Sprint("SET", w.next%8)
	i, _ := w.desc.Lookup(name)
	c := w.make(client, w.agent, protocol.TypePinSet, &protocol.PinSet{Pin: protocol.PinName(name), Value: protocol.Level(level)}, token)
	c.set = int(i)
	return c
}

// register leaves a task behind: a one-shot for an interval of 0.
func (w *world) register(client string, interval, after time.Duration) *command {
	j := &job{token: w.fresh("shot"), interval: interval, due: time.Now().Add(after)}
	brief := &protocol.Brief{Name: "t", Storage: "persistent"}
	if ms := after.Milliseconds(); interval == 0 {
		brief.AfterMS = &ms
	} else {
		j.token = w.fresh("tick")
		ms = interval.Milliseconds()
		brief.IntervalMS = &ms
	}
	c := w.make(client, w.agent, protocol.TypeRegister, &protocol.Register{Brief: brief, Code: "pulse TASKS " + j.token}, w.fresh("r"))
	c.task = j
	w.tasks = append(w.tasks, j)
	w.count.tasks.Add(1)
	return c
}

func (w *world) cancel(client string, j *job) *command {
	c := w.make(client, w.agent, protocol.TypeCancel, &protocol.TaskRef{TaskID: j.id}, w.fresh("k"))
	c.task = j
	return c
}

// take takes in the answer to a command, of now or of before.
func (w *world) take(c *command, raw []byte) {
	a, err := wire.DecodeAnswer(raw)
	must(w.t, err)
	var code protocol.Code
	res, _ := a.(*protocol.Result)
	if res != nil {
		code = res.Code
	}
	switch code { //nolint:exhaustive // the others are answers like success
	case protocol.CodeBusy, protocol.CodeUnavailable, protocol.CodeStorage, protocol.CodeUnauthorized: // it may be sent again
		if c.acked != nil && c.sure && !c.void {
			w.lose(c, "answered before, and now "+string(code), raw)
		}
		return
	case protocol.CodeIDReused, protocol.CodeInternal, protocol.CodeBadRequest, protocol.CodeBadJSON:
		w.failf("%s: got %s", c.raw, raw)
		return
	case protocol.CodeExpired:
		if c.typ != protocol.TypeExec {
			w.failf("%s: got %s", c.raw, raw)
		}
	}
	if c.acked != nil && (string(raw) == string(c.acked) || c.sure && !c.void) {
		if string(raw) != string(c.acked) {
			w.lose(c, "another answer than before", raw)
		}
		return
	}
	if c.acked == nil {
		w.count.acked.Add(1)
	}
	c.acked, c.code, c.sure = raw, code, w.healthy
	c.void = c.typ == protocol.TypeExec && code == protocol.CodeInterrupted && res.Rung == 0 && !strings.Contains(res.Message, "in the middle")
	if answer, ok := a.(*protocol.TaskAnswer); ok {
		w.takeTask(c, answer)
	}
}

func (w *world) takeTask(c *command, a *protocol.TaskAnswer) {
	j := c.task
	if c.typ == protocol.TypeCancel {
		j.done = true
		w.notes.bury(j.token)
		return
	}
	if j.id = a.TaskID; j.interval > 0 && a.NextMS != 0 {
		j.phase = a.NextMS % j.interval.Milliseconds()
	} else {
		j.phase = -1
	}
}

func (w *world) lose(c *command, why string, raw []byte) {
	w.count.lost.Add(1)
	w.failf("lost: %s: %s:\nbefore %s\nnow    %s", c.raw, why, c.acked, raw)
}

// doubles looks for what was driven more than once.
func (w *world) doubles() {
	n := w.notes
	n.mu.Lock()
	defer n.mu.Unlock()
	for token, drives := range n.drives {
		w.count.drives.Add(int64(drives))
		if drives > 1 && !strings.HasPrefix(token, "tick") {
			w.count.double.Add(1)
			w.failf("%s: driven %d times", token, drives)
		}
	}
	for token, runs := range n.runs {
		if runs > 1 && strings.HasPrefix(token, "shot") {
			w.count.double.Add(1)
			w.failf("%s: a task for one time was run %d times", token, runs)
		}
	}
	for _, token := range n.ghosts {
		w.failf("%s: run after its cancel was acknowledged", token)
	}
	if w.unsafe > 0 {
		w.count.unsafe.Add(int64(w.unsafe))
		w.failf("%d outputs were not safe at a start", w.unsafe)
	}
}

// back is a power-up after a life: what clients were told must be so. replay says which commands are sent again.
func (w *world) back(disk *crash.Disk, cutAfter int, replay func(i int, c *command) bool) *life {
	w.latchBroken = false
	w.count.restarts.Add(1)
	l := w.start(disk, cutAfter)
	if l == nil {
		return nil
	}
	w.checkLatch(l)
	human := l.dial(w.human, "check")
	defer human.leave()
	w.checkTasks(human)
	w.checkAudit(l, human)
	w.replay(l, replay)
	return l
}

func (w *world) checkLatch(l *life) {
	set, reason, _ := l.table.Stopped()
	switch {
	case w.latch == mustBeSet && !set:
		w.failf("the e-stop was acknowledged, and is not set after the start")
	case w.latch == mustBeClear && set:
		w.failf("the e-stop is set after the start, and nobody set it: %s (damaged: %v)", reason, w.latchBroken)
	}
	w.latch = mustBeClear
	if set {
		w.latch = mustBeSet
	}
}

// checkTasks compares the tasks there are with those that were acknowledged.
func (w *world) checkTasks(human *peer) {
	a, ok := human.ask(protocol.TypeList, nil).(*protocol.Tasks)
	if !ok {
		if human.life.power() {
			w.failf("got no list of tasks")
		}
		return
	}
	found := map[string]protocol.TaskInfo{}
	for _, info := range a.Tasks {
		found[info.TaskID] = info
	}
	for _, j := range w.tasks {
		info, here := found[j.id]
		live := here && info.State != "done" && info.State != "failed" && info.State != "cancelled"
		_, runs, _ := w.notes.of(j.token)
		switch {
		case j.id == "":
		case j.done && live:
			w.failf("task %s (%s) has ended, and is there: %+v", j.id, j.token, info)
		case j.done || j.cancel:
		case j.interval > 0:
			w.checkTick(j, info, live)
		case !here && runs == 0 && time.Now().Before(j.due):
			w.lostTask(j)
		case here && !live:
			j.done = true
			w.notes.bury(j.token)
		}
	}
}

func (w *world) checkTick(j *job, info protocol.TaskInfo, live bool) {
	if !live {
		w.lostTask(j)
		return
	}
	every := j.interval.Milliseconds() // what is due now is owed, and in no phase
	if j.phase >= 0 && info.NextMS > wall().UnixMilli() && (info.NextMS-j.phase)%every != 0 {
		w.failf("task %s (%s) is due at %d, which is off its phase %d of %d", j.id, j.token, info.NextMS, j.phase, every)
	}
}

func (w *world) lostTask(j *job) {
	w.count.lost.Add(1)
	w.failf("task %s (%s) was acknowledged, and is not there", j.id, j.token)
	j.done = true
}
