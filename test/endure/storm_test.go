package endure

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/audit"
	"github.com/pal-terminal/pal/store/crash"
)

// stormCommands is how many commands are generated at least; messages are more, since many are sent again.
const stormCommands = 100_000

// Clients that lose answers, repeat, reorder and come again, on a terminal that loses power, is started anew and whose disk is full at
// times: what was acknowledged is never lost, nothing is driven twice, and no output is left on.
func TestStorm(t *testing.T) {
	s, f := newSetting(t), &figures{}
	var seed atomic.Uint64
	want := int64(soak(stormCommands) / pace)
	for part := range runtime.GOMAXPROCS(0) {
		t.Run(fmt.Sprint("part ", part), func(t *testing.T) {
			t.Parallel()
			for f.commands.Load() < want && !t.Failed() {
				synctest.Test(t, func(t *testing.T) { newWorld(t, seed.Add(1), s, f).storm() })
			}
		})
	}
	t.Cleanup(func() {
		t.Log(f)
		if f.lost.Load()+f.double.Load()+f.unsafe.Load() > 0 || !t.Failed() && f.commands.Load() < want {
			t.Errorf("want %d commands and nothing lost, double or unsafe", want)
		}
	})
}

// storm is all lives of a world.
func (w *world) storm() {
	d := crash.New(w.seed)
	d.Unordered(w.seed%3 == 0)
	some := func(i int, c *command) bool {
		return c.acked == nil && w.rng.IntN(2) == 0 || i >= len(w.commands)-8 || w.rng.IntN(30) == 0
	}
	lives := 4 + w.rng.IntN(16)
	for range lives {
		cut := -1
		if w.rng.IntN(3) > 0 {
			cut = w.rng.IntN(500)
		}
		if l := w.back(d, cut, some); l != nil {
			d = w.live(l)
		} else {
			w.count.cuts.Add(1)
			d = d.Restart(w.rng.Uint64())
		}
		pass(time.Duration(w.rng.IntN(30_000)) * time.Millisecond)
	}
	w.last = true
	if l := w.back(d, -1, func(int, *command) bool { return true }); l != nil {
		pass(10 * time.Second)
		l.end()
	}
	if r, err := audit.VerifyFiles(w.t.Context(), d, "audit", "", nil); err != nil || r.Problem != "" {
		w.failf("the audit log of a terminal that ended does not verify: %v %s", err, r.Problem)
	}
	w.doubles()
}

// live is one life after its checks, to its end; it returns the disk for the next.
func (w *world) live(l *life) *crash.Disk {
	clients := []*peer{l.dial(w.agent, "c0"), l.dial(w.agent, "c1"), l.dial(w.agent, "c2")}
	human := l.dial(w.human, "h")
	for range 4 + w.rng.IntN(36) {
		if !l.power() {
			break
		}
		i := w.rng.IntN(len(clients))
		switch n := w.rng.IntN(40); {
		case n == 0:
			w.stop(clients[i])
		case n < 4:
			w.release(human)
			for _, j := range w.tasks[max(0, len(w.tasks)-4):] {
				w.resume(human, j)
			}
		case n == 4:
			w.look(human)
		case n == 5:
			w.fill(l, clients[i], i)
		default:
			clients[i] = w.burst(l, clients[i], i)
		}
		pass(time.Duration(w.rng.IntN(1500)) * time.Millisecond)
	}
	if l.power() {
		w.look(human)
	}
	d := l.disk
	orderly := l.power() && w.rng.IntN(2) == 0
	if !orderly {
		w.count.cuts.Add(1)
		l.off.Store(true)
		d = d.Restart(w.rng.Uint64())
	}
	for _, p := range append(clients, human) {
		p.leave()
	}
	l.end()
	if orderly && !l.power() { // it was cut while it ended
		w.count.cuts.Add(1)
		d = d.Restart(w.rng.Uint64())
	}
	return d
}

// fill lets the disk be full for a while.
func (w *world) fill(l *life, p *peer, i int) {
	w.count.full.Add(1)
	w.healthy = false
	l.disk.Full(true)
	for range 3 {
		w.do(p, w.any(i))
		pass(time.Duration(w.rng.IntN(1500)) * time.Millisecond)
	}
	l.disk.Full(false)
	pass(5 * time.Second) // it looks again, and writes what waits
	w.healthy = true
}

// burst sends some commands at once, in any order and some twice, and takes the answers, or goes away and comes again.
func (w *world) burst(l *life, p *peer, i int) *peer {
	ids, all := map[string]bool{}, map[string]*command{}
	var queue []*command
	taken := map[int]bool{} // pins: who drove one must be told apart
	put := func(c *command) {
		if c.client != fmt.Sprint("c", i) || c.set >= 0 && taken[c.set] {
			return
		}
		taken[c.set] = true
		for queue = append(queue, c); w.rng.IntN(5) == 0; {
			queue = append(queue, c)
		}
	}
	for range 1 + w.rng.IntN(6) {
		put(w.any(i))
		if w.rng.IntN(6) == 0 {
			put(w.commands[w.rng.IntN(len(w.commands))])
			w.count.replays.Add(1)
		}
	}
	w.rng.Shuffle(len(queue), func(i, j int) { queue[i], queue[j] = queue[j], queue[i] })
	for _, c := range queue {
		ids[c.id], all[c.id] = true, c
		w.send(p, c)
	}
	if w.rng.IntN(5) == 0 { // it loses the answers
		pass(time.Duration(w.rng.IntN(3)) * time.Millisecond)
		p.leave()
		return l.dial(w.agent, fmt.Sprint("c", i))
	}
	for id, raw := range p.gather(ids) {
		w.take(all[id], raw)
	}
	return p
}

// any makes one command.
func (w *world) any(i int) *command {
	client := fmt.Sprint("c", i)
	if len(w.tasks) > 0 && w.rng.IntN(12) == 0 {
		if j := w.tasks[w.rng.IntN(len(w.tasks))]; j.id != "" && !j.done {
			return w.cancel(client, j)
		}
	}
	name := fmt.Sprint("A", w.rng.IntN(4))
	switch n := w.rng.IntN(100); {
	case n < 35:
		return w.exec(client, "pulse", name, 1000)
	case n < 45:
		return w.exec(client, "on", name, 1000)
	case n < 50:
		return w.exec(client, "off", name, 1000)
	case n < 55:
		return w.exec(client, "toggle", name, 1000)
	case n < 63:
		return w.exec(client, "read", name, 1000)
	case n < 65:
		return w.exec(client, "die", name, 1000)
	case n < 67:
		return w.exec(client, "spin", name, 1+w.rng.Int64N(50))
	case n < 72:
		return w.exec(client, "on", "LEASED", 1000)
	case n < 75:
		return w.lease(client)
	case n < 92:
		return w.pinSet(client, w.rng.IntN(2))
	case n < 96:
		return w.register(client, 0, time.Duration(1+w.rng.IntN(20_000))*time.Millisecond)
	default:
		return w.register(client, time.Duration(100+w.rng.IntN(20_000))*time.Millisecond, 0)
	}
}
