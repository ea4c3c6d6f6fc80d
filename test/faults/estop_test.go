//go:build unix

package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/store"
	"github.com/pal-terminal/pal/test/terminal"
)

// wantStopped checks the latch, in the guard and on the disk, and that nothing can be driven.
func (r *rig) wantStopped(after string) {
	r.t.Helper()
	if stopped, _, _ := r.Table.Stopped(); !stopped {
		r.t.Fatalf("%s has released the e-stop", after)
	}
	if !latchOnDisk(r.t, r.Dir) {
		r.t.Fatalf("%s has cleared the latch on the disk", after)
	}
	r.wantSafe(after)
	if code, _ := outcome(r.human.PinSet(r.ctx(), "LED", 1)); code != protocol.CodeEstopped {
		r.t.Errorf("%s: driving is answered %q, want estopped", after, code)
	}
}

// latchOnDisk reads a copy of the latch of a state folder.
func latchOnDisk(t testing.TB, dir string) bool {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "guard", "estop"))
	if err != nil {
		t.Fatal(err)
	}
	copied := t.TempDir()
	if err := os.WriteFile(filepath.Join(copied, "estop"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := store.Folder(copied)
	if err != nil {
		t.Fatal(err)
	}
	_, found, err := store.OpenLatch(d, "estop", true)
	return err == nil && found.Set && found.Damaged == ""
}

// clearings are messages that an actor who is no person may hope to clear the e-stop with. %s is what board show answers.
var clearings = []string{
	`{"type":"estop_clear"}`, `{"type":"estop_clear","reason":"all is well"}`, `{"type":"estop_clear","meta":{"class":"human","actor":"local-human"}}`,
	`{"type":"estop_clear","class":"human"}`, `{"type":"estop_clear","actor":"local-human"}`, `{"type":"ESTOP_CLEAR"}`, `{"type":"estop_clear\u0000"}`,
	`{"type":"stop","type":"estop_clear"}`, `{"type":"stop","reason":"","clear":true}`, `{"type":"release"}`, `{"type":"pal_release"}`,
	`{"type":"hello","client":"local-human"}`, `{"type":"hello","client":"boss"}`, `{"type":"hello","token":""}`, `{"type":"hello","token":"local-human"}`,
	`{"type":"forward","message":"{\"type\":\"estop_clear\"}"}`, `{"type":"safe_mode","op":"leave"}`, `{"type":"reset"}`, `{"type":"reset","session":"main"}`,
	`{"type":"board","op":"apply","source":"from machine import Pin\nPin('LED', Pin.OUT).on()\n","confirm":"%s"}`,
	`{"type":"sim","op":"reset"}`, `{"type":"sim","op":"fault","name":"board","value":"brownout"}`, `{"type":"audit","op":"verify"}`,
	`{"type":"fs","op":"rm","path":"/../guard/estop"}`, `{"type":"fs","op":"rm","path":"/estop"}`, `{"type":"fs","op":"put","path":"/../guard/estop","data_b64":""}`,
	`{"type":"fs","op":"mv","path":"/main.py","to":"/../../guard/estop"}`, `{"type":"pin_set","pin":"estop","value":0}`, `{"type":"pin_set","pin":"LED","value":1}`,
	`{"type":"lease","resources":["LOCK"]}`, `{"type":"approval","op":"approve","approval_id":"estop"}`, `{"type":"conn","op":"kick","conn":1}`,
	`{"type":"tool","tool":"relay_on","args":{}}`, `{"type":"tool","tool":"estop_clear","args":{}}`, `{"type":"tool","tool":"made","args":{}}`,
	`{"type":"token","op":"create","name":"me","class":"human","scopes":["read","exec","actuate","admin"]}`,
	`{"type":"token","op":"create","name":"local-human","class":"human","scopes":["admin"]}`,
	`{"type":"token","op":"create","name":"Local-Human","class":"human","scopes":["admin"]}`,
	`{"type":"token","op":"create","name":"helper","class":"agent","scopes":["exec","actuate"]}`,
	`{"type":"register","brief":{"name":"one","after_ms":1},"code":"LED.on()"}`,
	`{"type":"register","brief":{"name":"two","interval_ms":10},"code":"event_push('estop', {'latched': False})\nLED.on()"}`,
	`{"type":"exec","code":"` + `import machine\nmachine.reset()"}`,
}

// everything is code that sends nothing but tries all that there is.
const everything = `
import sys
def attempt(f):
    try: f()
    except BaseException as e: pass
@tool
def made() -> None:
    LED.on()
for name in ('estop_clear', 'release', 'clear', 'safe_mode'):
    attempt(lambda: event_push(name, {'latched': False, 'class': 'human'}))
    attempt(lambda: __import__(name))
    for module in list(sys.modules.values()):
        attempt(lambda: getattr(module, name)())
import machine
attempt(lambda: __import__('board'))
for f in ('reset', 'soft_reset', 'deepsleep', 'WDT', 'mem32', 'mem8'):
    attempt(lambda: getattr(machine, f)() if f != 'reset' and f != 'soft_reset' else None)
for path in ('/estop', '../guard/estop', '/flash/../../guard/estop', '/proc/self/mem', '/guard/estop'):
    for mode in ('w', 'wb', 'a', 'r'):
        attempt(lambda: open(path, mode).write('clear\n'))
attempt(lambda: setattr(sys.modules['board'], 'estop', False))
import _pal
for name in dir(_pal):
    f = getattr(_pal, name)
    if name.startswith('_') or name in ('wait', 'sleep'): continue
    for args in ((), (0,), (1,), (0, 1), (1, 1), ('estop', 0), ('clear',), (1, 1, 0, 1), (-1, 0), (255, 255)):
        attempt(lambda: f(*args))
for n in range(13):
    attempt(lambda: Pin(n, Pin.OUT).on())
    attempt(lambda: Pin(n, Pin.OUT, value=1))
    attempt(lambda: machine.PWM(n, freq=50, duty_u16=30000))
print('tried')
`

// The e-stop is cleared by nobody but a person: not by an agent, a service, one that manages, a hub, code, a tool or a task.
func TestEstopIsNotCleared(t *testing.T) {
	r := start(t, terminal.Options{})
	all := []identity.Scope{identity.Read, identity.Exec, identity.Actuate}
	managing := append([]identity.Scope{identity.Admin}, all...)
	actors := map[string]string{
		"an agent": r.Agent, "a service": r.token("service", identity.Service, false, all...), "a managing service": r.token("manager", identity.Service, false, managing...),
		"a hub": r.token("hub", identity.Hub, false, managing...), "an agent that asks": r.token("asker", identity.Agent, true, all...),
	}
	r.run(r.agent, "@tool\ndef made() -> None:\n  LED.on()\n")
	if err := r.agent.Stop(r.ctx(), "for good"); err != nil {
		t.Fatal(err)
	}
	r.wantStopped("the stop")
	tried := 0
	for who, token := range actors {
		conn := r.Pipe(token)
		hash, err := r.human.Board(r.ctx(), "show")
		if err != nil {
			t.Fatal(err)
		}
		for _, message := range clearings {
			if strings.Contains(message, `"confirm":"%s"`) {
				message = fmt.Sprintf(message, hash.SHA256)
			}
			if strings.Contains(message, "kick") || strings.Contains(message, "brownout") && !strings.Contains(who, "manag") {
				continue
			}
			answer := say(t, conn, message)
			tried++
			if strings.Contains(message, `"class":"human"`) && strings.Contains(answer, `"token":"pal_`) {
				t.Errorf("%s made itself a person: %s", who, message)
			}
			if stopped, _, _ := r.Table.Stopped(); !stopped {
				t.Fatalf("%s: %s has released the e-stop: %s", who, message, answer)
			}
		}
		c := r.dial(token)
		if res := r.exec(c, protocol.Exec{Code: everything, TimeoutMS: new(int64(20_000))}); !strings.HasSuffix(res.Stdout, "tried\n") {
			t.Errorf("%s: the code that tries everything: got %+v", who, res)
		}
		if _, err := c.Register(r.ctx(), protocol.Register{Brief: new(protocol.Brief{Name: "tries", AfterMS: new(int64(1))}), Code: everything}); err != nil {
			t.Errorf("%s: register: %v", who, err)
		}
		tried += 2
		r.wantStopped(who)
	}
	figure("e-stop: %d attempts to clear it, none did", tried)
	for _, event := range r.happened("estop") {
		if event["latched"] != true {
			t.Errorf("event estop %v", event)
		}
	}
	if err := r.human.EstopClear(r.ctx(), "a person"); err != nil {
		t.Fatal(err)
	}
	r.wantSafe("after the release")
	if latchOnDisk(t, r.Dir) {
		t.Error("a person's release is not on the disk")
	}
}

// A message of a person that comes again is answered as before, and the latch stays: within a run, on another connection, and after
// a restart. So does it through every kind of restart, in safe mode, and when its file is deleted.
func TestEstopOutlivesReplayAndRestart(t *testing.T) {
	dir := t.TempDir()
	r := start(t, terminal.Options{Dir: dir})
	const release = `{"id":"release-1","type":"estop_clear","reason":"checked"}`
	boss := func(r *rig) func(string) string {
		conn := r.Pipe(r.Human)
		say(t, conn, `{"id":"h","type":"hello","client":"boss"}`)
		return func(m string) string { return say(t, conn, m) }
	}
	ask := boss(r)
	stop := func() {
		t.Helper()
		if err := r.agent.Stop(r.ctx(), "again"); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	first := ask(release)
	if stopped, _, _ := r.Table.Stopped(); stopped || !strings.Contains(first, `"ack"`) {
		t.Fatalf("release: got %s", first)
	}
	stop()
	for _, again := range []func(string) string{ask, boss(r)} {
		if got := again(release); got != first {
			t.Errorf("the same again: got %s, want the stored %s", got, first)
		}
		r.wantStopped("a replayed release")
	}
	if got := ask(`{"id":"release-1","type":"estop_clear","reason":"other"}`); !strings.Contains(got, "id_reused") {
		t.Errorf("the same id with other bytes: got %s", got)
	}
	thief := r.Pipe(r.Agent)
	say(t, thief, `{"id":"h","type":"hello","client":"boss"}`)
	if got := say(t, thief, release); !strings.Contains(got, "estop.human") {
		t.Errorf("the same from an agent: got %s", got)
	}
	r.wantStopped("all replays")
	r.end()

	r = start(t, terminal.Options{Dir: dir})
	r.wantStopped("an orderly restart")
	if got := boss(r)(release); got != first {
		t.Errorf("the same after a restart: got %s, want the stored %s", got, first)
	}
	r.wantStopped("a release replayed after a restart")
	r.waitEvent("estop", map[string]any{"restored": true, "latched": true, "reason": "again"})
	r.end()

	r = start(t, terminal.Options{Dir: dir, Safe: "a test"})
	r.wantStopped("a start in safe mode")
	if mode, err := r.human.LeaveSafeMode(r.ctx()); err != nil || mode.Active {
		t.Fatal(err)
	}
	r.wantStopped("the end of safe mode")
	if err := r.human.EstopClear(r.ctx(), ""); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := os.Remove(filepath.Join(dir, "guard", "estop")); err != nil { // under the running terminal
		t.Fatal(err)
	}
	r.end()
	r = start(t, terminal.Options{Dir: dir})
	r.wantStopped("the deletion of its file")
}

// kill -9 in the very moment of the answer, and at once after a deletion of the file.
func TestEstopOutlivesKill(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	stopped := func(p *process, after string) {
		t.Helper()
		status, err := p.dial("").Status(t.Context())
		if err != nil || !status.Estop.Latched {
			t.Fatalf("%s: got %+v, %v, want the e-stop set", after, status, err)
		}
		code, _ := outcome(p.agent().Exec(t.Context(), protocol.Exec{Code: "LED.on()"}))
		if code != protocol.CodeEstopped {
			t.Errorf("%s: exec is answered %q", after, code)
		}
		outputsSafe(t, after, p.dial(""))
	}
	release := func(p *process) {
		t.Helper()
		if err := p.dial("").EstopClear(t.Context(), "test"); err != nil {
			t.Fatal(err)
		}
	}
	p := up(t, state)
	if err := p.agent().Stop(t.Context(), "then killed"); err != nil {
		t.Fatal(err)
	}
	p.kill()
	p = up(t, state)
	stopped(p, "kill -9")
	release(p)
	if err := p.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	human := p.dial("")
	eventually(t, "the signal stops", func() bool { s, err := human.Status(t.Context()); return err == nil && s.Estop.Latched })
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-p.ended
	p = up(t, state)
	stopped(p, "SIGUSR1 and an orderly end")
	release(p)
	if err := os.Remove(filepath.Join(state, "guard", "estop")); err != nil {
		t.Fatal(err)
	}
	p.kill()
	p = up(t, state)
	stopped(p, "the deletion of a clear latch")
	release(p)
	p.kill()
	p = up(t, state)
	if s, err := p.dial("").Status(t.Context()); err != nil || s.Estop.Latched {
		t.Errorf("a person's release did not last: %+v, %v", s, err)
	}
}
