//go:build unix

package faults

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/store/crash"
	"github.com/pal-terminal/pal/test/terminal"
	"github.com/pal-terminal/pal/transport"
)

// edges counts every change of a line.
func (r *rig) edges(name string) *atomic.Int64 {
	r.t.Helper()
	n := new(atomic.Int64)
	p, _ := r.desc.Lookup(name)
	cancel, err := r.Sim.(board.Driver).Watch(p, hw.EdgeRising|hw.EdgeFalling, func(bool, time.Time) { n.Add(1) })
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(cancel)
	return n
}

func toggles(n int) string {
	return fmt.Sprintf(`{"id":"m%d","type":"exec","code":"Pin('LED', Pin.OUT).toggle()"}`, n)
}

// named opens a connection under a client's name.
func (r *rig) named(token, client string) transport.Conn {
	r.t.Helper()
	conn := r.Pipe(token)
	say(r.t, conn, `{"id":"h","type":"hello","client":"`+client+`"}`)
	return conn
}

// deliver sends each of the messages a few times, in any order, over several connections of one client, and returns one answer of each,
// after it has checked that all answers to one are the same.
func (r *rig) deliver(rng *rand.Rand, numbers []int, most int) map[int]string {
	r.t.Helper()
	var list []int
	for _, n := range numbers {
		for range 1 + rng.IntN(most) {
			list = append(list, n)
		}
	}
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	var mu sync.Mutex
	got := map[int]string{}
	var wg sync.WaitGroup
	for half := range 3 {
		conn := r.named(r.Agent, "one")
		wg.Go(func() {
			for i := half; i < len(list); i += 3 {
				answer := say(r.t, conn, toggles(list[i]))
				mu.Lock()
				if first := got[list[i]]; first != "" && first != answer {
					r.t.Errorf("m%d: got %s, and before %s", list[i], answer, first)
				}
				got[list[i]] = answer
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return got
}

func upTo(from, to int) (list []int) {
	for n := from; n < to; n++ {
		list = append(list, n)
	}
	return list
}

// Messages that come twice, late, in another order, under another's id, and after a loss of power: what is actuated is what has an id
// of its own, once.
func TestReplays(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	disk, dir := crash.New(3), t.TempDir()
	r := start(t, terminal.Options{Disk: disk, Dir: dir})
	moved := r.edges("LED")
	first := r.deliver(rng, upTo(0, 100), 4)
	if got := moved.Load(); got != 100 {
		t.Errorf("100 messages, some of them four times, have driven %d times", got)
	}
	conn := r.named(r.Agent, "one")
	for _, m := range []string{
		`{"id":"m7","type":"exec","code":"Pin('LED', Pin.OUT).toggle() "}`, `{"id":"m7","type":"pin_set","pin":"LED","value":1}`, `{"id":"m7","type":"exec","code":"Pin('LED', Pin.OUT).toggle()","meta":{}}`,
	} {
		if answer := say(t, conn, m); !strings.Contains(answer, "id_reused") {
			t.Errorf("%s: got %s", m, answer)
		}
	}
	// One that waited too long behind another never runs, also when it is asked for again.
	slow := r.named(r.Agent, "two")
	send(t, slow, `{"id":"long","type":"exec","code":"import time\ntime.sleep_ms(150)"}`)
	late := `{"id":"late","type":"exec","ttl_ms":20,"code":"Pin('LED', Pin.OUT).toggle()"}`
	send(t, slow, late)
	for range 2 {
		if answer := receive(t, slow); strings.Contains(answer, `"late"`) && !strings.Contains(answer, `"expired"`) {
			t.Errorf("late: got %s", answer)
		}
	}
	cut := `{"id":"cut","type":"exec","timeout_ms":50000,"code":"Pin('FAN', Pin.OUT).on()\nwhile True: pass"}`
	send(t, slow, cut)
	eventually(t, "it drives", func() bool { return r.level("FAN") == 1 })
	if got := moved.Load(); got != 100 {
		t.Errorf("the LED was driven %d times", got)
	}
	lost := disk.Restart(11) // the power goes here
	r.end()

	r = start(t, terminal.Options{Disk: lost, Dir: dir})
	moved, fan := r.edges("LED"), r.edges("FAN")
	again := r.deliver(rng, upTo(0, 140), 3)
	if got := moved.Load(); got != 40 {
		t.Errorf("after the loss of power 40 new messages and 100 old ones have driven %d times", got)
	}
	for n, answer := range first {
		if again[n] != answer {
			t.Errorf("m%d after the loss of power: got %s, want %s", n, again[n], answer)
		}
	}
	if answer := say(t, r.named(r.Agent, "two"), cut); !strings.Contains(answer, `"code":"interrupted"`) || fan.Load() != 0 {
		t.Errorf("what was cut off: got %s; driven %d times", answer, fan.Load())
	}
	if b := r.happened("boot"); len(b) != 1 || fmt.Sprint(b[0]["interrupted_count"]) != "1" {
		t.Errorf("boot: got %v", b)
	}
	stored := say(t, r.named(r.Agent, "one"), toggles(7))
	if other := say(t, r.named(r.Human, "one"), toggles(7)); other == stored {
		t.Error("another actor has got the stored answer")
	}
}

// Whatever name a pin is called by, what is leased, or a task's, is refused to all others, on every way to drive it; what Python makes
// of modules and methods does not matter.
func TestAliasesOfWhatIsHeld(t *testing.T) {
	r := start(t, terminal.Options{})
	holder := r.dial(r.token("holder", identity.Agent, false, identity.Read, identity.Exec, identity.Actuate))
	if _, err := holder.Lease(r.ctx(), protocol.Lease{Resources: []protocol.ResourceUse{drives("LED"), drives("i2c0"), drives("LOCK")}}); err != nil {
		t.Fatal(err)
	}
	r.task(holder, "pass", every("owns", time.Hour, drives("4"), drives("RELAY")))
	moved := map[string]*atomic.Int64{}
	for _, name := range []string{"LED", "FAN", "RELAY", "LOCK", "SDA", "SCL"} {
		moved[name] = r.edges(name)
	}
	tried := 0
	for name, number := range map[string]int{"LED": 1, "FAN": 4, "RELAY": 12, "LOCK": 7} {
		for _, alias := range []string{fmt.Sprint(number), fmt.Sprintf("'%s'", name), fmt.Sprintf("'%d'", number), fmt.Sprintf("'GPIO%d'", number), fmt.Sprintf("Pin(%d)", number)} {
			for _, use := range []string{
				"Pin(%s, Pin.OUT).on()", "Pin(%s, Pin.OUT, value=1)", "Pin(%s).on()", "Pin(%s).value(1)", "Pin(%s)(1)", "Pin(%s).toggle()", "Pin(%s).init(Pin.OUT, value=1)",
				"Signal(Pin(%s, Pin.OUT), invert=True).off()", "PWM(%s, freq=100, duty_u16=30000)", "p = PWM(%s, freq=100)\np.duty_u16(60000)", "PWM(%s).deinit()\nPin(%[1]s).on()",
				"p = Pin(%s)\ndel p\nPin(%[1]s).on()", "machine.Pin.board.__dict__\nPin(%s).on()", "bitstream(Pin(%s), 0, (400, 850, 800, 450), b'x')",
			} {
				tried++
				code := "import machine\nfrom machine import Pin, PWM, Signal, bitstream\n" + fmt.Sprintf(use, alias)
				if res := r.exec(r.agent, protocol.Exec{Code: code}); res.Code != protocol.CodeConflict && res.Code != protocol.CodeDenied {
					t.Errorf("%s: got %+v, want a refusal", code, res)
				}
			}
		}
		for _, alias := range []string{fmt.Sprint(number), name, fmt.Sprintf("GPIO%d", number)} {
			for who, c := range map[string]*client.Client{"an agent": r.agent, "a person": r.human} {
				tried++
				if code, rule := outcome(c.PinSet(r.ctx(), alias, 1)); code != protocol.CodeConflict && code != protocol.CodeDenied {
					t.Errorf("%s sets %s: got %s %s", who, alias, code, rule)
				}
			}
			if _, err := r.agent.Lease(r.ctx(), protocol.Lease{Resources: []protocol.ResourceUse{drives(alias)}}); err == nil {
				t.Errorf("lease of %s: it was given", alias)
			}
			if _, err := r.agent.Register(r.ctx(), protocol.Register{Brief: new(every("x", time.Hour, drives(alias))), Code: "pass"}); err == nil {
				t.Errorf("a task with %s: it was registered", alias)
			}
			tried += 2
		}
	}
	for _, code := range []string{
		"from machine import I2C\nI2C(0).scan()", "from machine import I2C\nI2C(0, freq=100000).writeto(0x23, b'x')", "from machine import SoftI2C, Pin\nSoftI2C(Pin(10), Pin(9)).scan()",
		"Pin('SDA', Pin.OPEN_DRAIN, value=0)", "Pin(10, Pin.OPEN_DRAIN).off()", "LED.on()", "import board\nboard.LED.on()", "relay_on()",
		"import sys\nsys.modules['board'].relay_on()", "import board\nboard.relay_on.__globals__['RELAY'].on()", "import machine\nclass P(machine.Pin): pass\nP('LED').on()", "import machine\nmachine.Pin.__dict__['on'](Pin(1))", "@micropython.native\ndef f(): Pin(1).on()\nf()",
		"Pin.on = lambda self: 1\nimport _pal\n_pal.pin_write(1, 1)\nif not Pin('LED').value(): raise OSError('refused')", // from here on on() deceives its own program alone
	} {
		tried++
		if res := r.exec(r.agent, protocol.Exec{Code: code}); !res.Error || res.EffectsRefused == 0 {
			t.Errorf("%s: got %+v, want a refusal", code, res)
		}
	}
	// By the tasks' machine, and in a race of many.
	id := r.task(r.agent, "Pin('FAN', Pin.OUT).on()", every("thief", 10*time.Millisecond))
	eventually(t, "the thief is paused by its failures", func() bool { return r.info(id).State == "paused" })
	for name, n := range moved {
		if n.Load() != 0 {
			t.Errorf("%s moved %d times", name, n.Load())
		}
	}
	figure("what is held: %d tries under other names, none moved it", tried)
	if err := r.human.Reset(r.ctx(), ""); err != nil { // on() lies since the last of these, to all who share the machine
		t.Fatal(err)
	}
	r.run(holder, "LED.on()") // who has it drives it, and the witness sees it
	if moved["LED"].Load() != 1 {
		t.Error("the witness sees nothing")
	}
}
