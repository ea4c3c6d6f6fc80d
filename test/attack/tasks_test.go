//go:build unix

package attack

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/transport"
)

// every is the lines of benchBoard that can move.
var every = []string{"BOOT", "FLOAT", "LEFT", "RIGHT", "PULSE", "SECRET", "PUMP", "LAMP"}

// said is what an answer of any type tells.
type said struct {
	Error  bool
	Code   protocol.Code
	Rule   string
	TaskID string `json:"task_id"`
	Task   struct {
		State string `json:"state"`
		Runs  int    `json:"runs"`
	}
	Runs   []struct{ Outcome, Stdout string }
	Leases []struct {
		ID string `json:"lease_id"`
	}
	Approvals []struct {
		ID    string `json:"approval_id"`
		State string `json:"state"`
	}
}

// raw opens a connection of an actor that is made for it.
func (r *rig) raw(name string, class identity.Class, ask bool, scopes ...identity.Scope) transport.Conn {
	r.t.Helper()
	token, _, err := r.Identity.Create(name, class, scopes, ask, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.Dial(token)
}

// say sends a message, counts it as an attack, and returns what is answered.
func (r *rig) say(conn transport.Conn, format string, args ...any) said {
	r.t.Helper()
	r.witness.attacks++
	message := fmt.Sprintf(format, args...)
	ctx, done := context.WithTimeout(r.t.Context(), patience)
	defer done()
	if err := conn.Write(ctx, []byte(message)); err != nil {
		r.t.Fatalf("send %.80q: %v", message, err)
	}
	answer, err := conn.Read(ctx)
	if err != nil {
		r.t.Fatalf("answer to %.80q: %v", message, err)
	}
	var s said
	if err := json.Unmarshal(answer, &s, json.MatchCaseInsensitiveNames(true)); err != nil {
		r.t.Fatalf("answer to %.80q: %s: %v", message, answer, err)
	}
	if s.Code == protocol.CodeInternal {
		r.t.Errorf("%.80q: got %s", message, answer)
	}
	return s
}

// task registers code to run every 20 ms.
func (r *rig) task(conn transport.Conn, code string) string {
	r.t.Helper()
	s := r.say(conn, `{"type":"register","brief":{"name":"t","interval_ms":20},"code":%q}`, code)
	if s.TaskID == "" {
		r.t.Fatalf("register %.60q: got %+v", code, s)
	}
	return s.TaskID
}

// ran waits until a task ran n times, or was ended for its failures.
func (r *rig) ran(conn transport.Conn, id string, n int) {
	r.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
		if s := r.say(conn, `{"type":"status","task_id":%q}`, id); s.Task.Runs >= n || s.Task.State == "paused" || s.Task.State == "failed" {
			return
		}
	}
	r.t.Fatalf("task %s did not run %d times", id, n)
}

// What is new to say since tasks: none of it may be done for an actor of too few rights, however it is said.
var mayNot = map[string][]string{
	"looker": { // read and exec
		`{"type":"audit","op":"tail"}`, `{"type":"audit","op":"export"}`, `{"type":"audit","op":"verify"}`, `{"type":"audit","op":"show","trace":"1"}`,
		`{"type":"safe_mode","op":"leave"}`, `{"type":"estop_clear"}`, `{"type":"board","op":"apply","source":"x = 1","confirm":"x"}`, `{"type":"pin_set","pin":"LAMP","value":1}`,
		`{"type":"lease","resources":["BOOT"]}`, `{"type":"lease","resources":["0"]}`, `{"type":"lease","resources":["FLOAT"]}`, `{"type":"lease","resources":["LAMP","BOOT"]}`, `{"type":"lease","resources":["\u202eLAMP"]}`,
		`{"type":"lease","lease_id":"lease_0","ttl_ms":1}`, `{"type":"lease","resources":["LAMP"],"ttl_ms":9000000000000}`, `{"type":"lease_release","lease_id":"001"}`,
	},
	"asker": { // with ask
		`{"type":"approval","op":"approve","approval_id":"x"}`, `{"type":"approval","op":"deny","approval_id":"x"}`, `{"type":"approval","op":"approve"}`, `{"type":"pin_set","pin":"SECRET","value":1,"approval_id":"x"}`,
		`{"type":"board","op":"apply","source":"from machine import Pin\nPin('SECRET', Pin.OUT).on()","confirm":"x"}`,
		`{"type":"exec","code":"Pin('SECRET', Pin.OUT).on()","approval_id":"x"}`, `{"type":"tool","tool":"left_on","args":{"x":1}}`,
	},
	"service": { // admin and all besides
		`{"type":"approval","op":"approve","approval_id":"x"}`, `{"type":"safe_mode","op":"leave"}`, `{"type":"estop_clear"}`, `{"type":"estop_clear","reason":"local-human"}`,
		`{"type":"token","op":"create","name":"me","class":"human","scopes":["read"]}`, `{"type":"token","op":"create","name":"local-human","class":"human"}`,
		`{"type":"token","op":"create","name":"me","class":"HUMAN"}`, `{"type":"token","op":"create","name":"me","class":" human"}`,
	},
	"agent": { // with actuate
		`{"type":"register","brief":{"name":"a","interval_ms":9},"code":"1"}`, `{"type":"register","brief":{"name":"a","interval_ms":-1},"code":"1"}`, `{"type":"register","brief":{"name":"a","cron":"* * * * * *"},"code":"1"}`,
		`{"type":"register","brief":{"name":"a","cron":"0-99999999 * * * *"},"code":"1"}`, `{"type":"register","brief":{"name":"a","cron":"*/0 * * * *"},"code":"1"}`, `{"type":"register","brief":{"name":"a","cron":"* * * * *","time_zone":"../../etc/passwd"},"code":"1"}`,
		`{"type":"register","brief":{"name":"a\u001b[2J","interval_ms":50},"code":"1"}`, `{"type":"register","brief":{"name":"a\nb","interval_ms":50},"code":"1"}`, `{"type":"register","brief":{"name":"\u202ea","interval_ms":50},"code":"1"}`,
		`{"type":"register","brief":{"name":"a","interval_ms":50,"cron":"* * * * *"},"code":"1"}`, `{"type":"register","brief":{"name":"a"},"code":"1"}`, `{"type":"register","code":"1"}`, `{"type":"register","brief":{"name":"a","interval_ms":50}}`,
		`{"type":"register","brief":{"name":"a","interval_ms":50,"resources":["BOOT"]},"code":"1"}`, `{"type":"register","brief":{"name":"a","interval_ms":50,"resources":["nothing"]},"code":"1"}`, `{"type":"register","brief":{"name":"a","interval_ms":50,"storage":"/etc"},"code":"1"}`,
		`{"type":"register","brief":{"name":"a","interval_ms":50,"actor":"local-human"},"code":"1"}`, `{"type":"register","brief":{"name":"a","interval_ms":50,"max_runs":-1},"code":"1"}`, `{"type":"register","brief":{"name":"a","interval_ms":50,"jitter_ms":9000000000000},"code":"1"}`,
		`{"type":"register","brief":{"name":"a","interval_ms":50,"timeout_ms":9000000000000},"code":"1"}`, `{"type":"register","brief":{"name":"a","at":"0000-00-00T00:00:00Z"},"code":"1"}`, `{"type":"register","brief":{"name":"a","after_ms":9223372036854775807},"code":"1"}`,
		`{"type":"trigger","task_id":"../001"}`, `{"type":"resume","task_id":"001\u0000"}`, `{"type":"cancel","task_id":""}`, `{"type":"task_result","task_id":"001","limit":-1}`,
	},
}

func TestRightsOfNewMessages(t *testing.T) {
	r := attack(t, benchBoard(t, "open"), rules{never: every})
	all := []identity.Scope{identity.Read, identity.Exec, identity.Actuate}
	conns := map[string]transport.Conn{
		"looker": r.raw("looker", identity.Agent, false, identity.Read, identity.Exec), "asker": r.raw("asker", identity.Agent, true, all...),
		"service": r.raw("service", identity.Service, false, append(all, identity.Admin)...), "agent": r.Dial(r.Agent),
	}
	for name, conn := range conns {
		for _, message := range mayNot[name] {
			if s := r.say(conn, "%s", message); !s.Error || s.Code == "" {
				t.Errorf("%s, %.120s: got %+v, want a refusal", name, message, s)
			}
		}
	}
	if slices.ContainsFunc(r.Identity.List(), func(a identity.Info) bool { return a.Name == "me" }) {
		t.Error("a service made a token of a person")
	}
	if s := r.say(conns["agent"], `{"type":"list"}`); s.Error {
		t.Errorf("list after it all: got %+v", s)
	}
}

// A task has the rights that its owner has now, and what another left in their machine gives it no more.
func TestTasksWithoutRights(t *testing.T) {
	r := attack(t, benchBoard(t, "open"), rules{never: every})
	looker := r.raw("looker", identity.Agent, false, identity.Read, identity.Exec)
	asker := r.raw("asker", identity.Agent, true, identity.Read, identity.Exec, identity.Actuate)
	mild := r.raw("mild", identity.Agent, false, identity.Read, identity.Exec, identity.Actuate)
	const drive = "import _pal, machine, builtins\nfrom machine import Pin\ndef drive(*a, **k):\n  _pal.pin_write(_pal.pin_open('SECRET'), 1)\n  return 7\n"
	for _, code := range []string{
		"Pin('LAMP', Pin.OUT).on()", "machine.Pin.value = drive", "machine.Pin.__init__ = drive", "builtins.print = drive", "_pal.pin_read = drive", "Pin('KEY').irq(drive, 3)",
		"import micropython\nmicropython.schedule(drive, 0)", "import sys\nsys.modules['board'].left_on = drive\nsys.modules['board'].left_on()", "while True: drive()", "raise SystemExit",
		"class D:\n  def __del__(self): drive()\nd = D(); d = None", "x = []\nwhile True: x.append('y' * 1000)", "while True: print('x' * 100)", "def f(): f()\nf()",
	} {
		for name, weak := range map[string]transport.Conn{"looker": looker, "asker": asker} {
			if name == "asker" && strings.Contains(code, "LAMP") {
				continue // that it may
			}
			honest := r.task(mild, "from machine import Pin\nprint(Pin('KEY').value())")
			id := r.task(weak, drive+code)
			r.ran(weak, id, 2)
			for _, op := range []string{"press", "release"} {
				if _, err := r.Sim.Sim(op, "KEY", ""); err != nil {
					t.Fatal(err)
				}
			}
			r.say(weak, `{"type":"trigger","task_id":%q}`, id)
			r.say(weak, `{"type":"trigger","task_id":%q}`, honest) // which is another's
			r.say(weak, `{"type":"cancel","task_id":%q}`, id)
			r.ran(mild, honest, 1)
			s := r.say(mild, `{"type":"trigger","task_id":%q}`, honest)
			if s.Error && s.Code != protocol.CodeBusy { // it is waiting to run already
				t.Errorf("after %s's %s, trigger: %+v", name, code, s)
			}
			r.say(mild, `{"type":"cancel","task_id":%q}`, honest)
		}
	}
}

// A task runs no more when its owner's token has ended, and who comes by the same name does not get it going again.
func TestTasksOfRevoked(t *testing.T) {
	r := attack(t, benchBoard(t, "open"), rules{never: every})
	const code = "import time\nfrom machine import Pin\ntime.sleep_ms(1)\ntry: open('/flash/go')\nexcept OSError: raise SystemExit\nPin('LAMP', Pin.OUT).on()"
	conn := r.raw("mayfly", identity.Agent, false, identity.Read, identity.Exec, identity.Actuate)
	id := r.task(conn, code)
	r.ran(conn, id, 2)
	human := r.Dial(r.Human)
	if s := r.say(human, `{"type":"token","op":"revoke","name":"mayfly"}`); s.Error {
		t.Fatalf("revoke: %+v", s)
	}
	if err := r.human.PutFile(t.Context(), "/go", []byte("x")); err != nil { // from here on it would drive
		t.Fatal(err)
	}
	again := r.raw("mayfly", identity.Agent, false, identity.Read, identity.Exec, identity.Actuate)
	for _, op := range []string{"trigger", "resume"} {
		if s := r.say(again, `{"type":%q,"task_id":%q}`, op, id); !s.Error {
			t.Errorf("%s a task of before: got %+v, want a refusal", op, s)
		}
	}
	if s := r.say(again, `{"type":"status","task_id":%q}`, id); s.Task.State != "held" || s.Task.Runs > 2+1 {
		t.Errorf("the task of a revoked token: %+v, want it held", s)
	}
}

// More than there may be is refused, and the e-stop and others come through meanwhile.
func TestTaskFloods(t *testing.T) {
	r := attack(t, benchBoard(t, "open"), rules{never: every})
	conn := r.Dial(r.Agent)
	slowest := r.pulse(t.Context())
	made := 0
	for i := range limits.TasksDefault + 20 {
		if s := r.say(conn, `{"type":"register","brief":{"name":"t%d","interval_ms":10,"timeout_ms":1000},"code":"while True: pass"}`, i); !s.Error {
			made++
		}
	}
	if made > limits.TasksDefault {
		t.Errorf("%d tasks were registered, want at most %d", made, limits.TasksDefault)
	}
	for i := range 200 {
		r.say(conn, `{"type":"trigger","task_id":"%03d"}`, i%limits.TasksDefault+1)
		r.say(conn, `{"type":"lease","resources":["LAMP"],"keep":true}`)
		r.say(conn, `{"type":"approval","op":"ls"}`)
	}
	if s := r.say(conn, `{"type":"stop"}`); s.Error {
		t.Errorf("stop under the flood: %+v", s)
	}
	if s := r.say(conn, `{"type":"pin_set","pin":"LAMP","value":1}`); !s.Error {
		t.Errorf("a drive while stopped: %+v", s)
	}
	r.works(r.human, "the flood of tasks")
	t.Logf("%d tasks; slowest ping meanwhile: %v", made, slowest())
}

// An approval is a person's, for one code and one use.
func TestApprovalsUnderAttack(t *testing.T) {
	r := attack(t, benchBoard(t, "open"), rules{never: []string{"BOOT", "FLOAT", "LEFT", "RIGHT", "PULSE", "PUMP", "LAMP", "SECRET"}})
	asker := r.raw("asker", identity.Agent, true, identity.Read, identity.Exec, identity.Actuate)
	other := r.raw("other", identity.Agent, true, identity.Read, identity.Exec, identity.Actuate)
	service := r.raw("service", identity.Service, false, identity.Read, identity.Exec, identity.Admin)
	self := r.raw("self", identity.Human, true, identity.Read, identity.Exec, identity.Actuate)
	for range 30 {
		r.say(asker, `{"type":"exec","code":"Pin('SECRET', Pin.OUT).on()"}`)
		r.say(self, `{"type":"exec","code":"Pin('SECRET', Pin.OUT).on()"}`)
	}
	for i := range 3 * limits.ApprovalAsks { // what is asked for more than a person reads is refused
		r.say(other, `{"type":"exec","code":"# \u001b[2J\u202e%d\nPin('SECRET', Pin.OUT).on()"}`, i)
	}
	list := r.say(asker, `{"type":"approval","op":"ls"}`)
	if n := len(list.Approvals); n == 0 || n > limits.Approvals {
		t.Errorf("%d approvals wait, want 1 to %d", n, limits.Approvals)
	}
	for _, a := range list.Approvals {
		for name, conn := range map[string]transport.Conn{"asker": asker, "other": other, "service": service} {
			if s := r.say(conn, `{"type":"approval","op":"approve","approval_id":%q}`, a.ID); !s.Error {
				t.Errorf("%s approved: %+v", name, s)
			}
		}
		if a.ID != "" {
			r.say(asker, `{"type":"exec","code":"Pin('SECRET', Pin.OUT).on()","approval_id":%q}`, a.ID)
			r.say(asker, `{"type":"pin_set","pin":"SECRET","value":1}`)
		}
	}
}

// A lease that its holder takes while a program of his runs, in a machine that ran an agent's code, is of no use to that code.
func TestLeaseTakenMeanwhile(t *testing.T) {
	r := attack(t, benchBoard(t, "open"), rules{never: every})
	human, lessor := r.Dial(r.Human), r.Dial(r.Human)
	r.say(r.Dial(r.Agent), `{"type":"exec","code":%q}`,
		"import machine, _pal\ndef evil(*a, **k):\n  h = _pal.pin_open('LAMP')\n  _pal.pin_mode(h, 2, 0, 1)\n  _pal.pin_write(h, 1)\n  return 7\nmachine.Pin.value = evil")
	const code = "import time\nprint('here')\nwhile True:\n  try:\n    open('/flash/go').close()\n    break\n  except OSError: time.sleep_ms(5)\nprint(Pin('KEY').value())"
	r.say(human, `{"type":"exec","stream":true,"code":%q}`, code) // what it answers first is "here"
	if s := r.say(lessor, `{"type":"lease","resources":["LAMP"]}`); s.Error {
		t.Fatalf("lease: %+v", s)
	}
	if err := r.human.PutFile(t.Context(), "/go", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if answer, err := human.Read(t.Context()); err != nil || !strings.Contains(string(answer), `"7\n"`) {
		t.Fatalf("got %s, %v, want what the agent left there to have run", answer, err)
	}
	if level := r.levels()["LAMP"]; level != 0 {
		t.Errorf("LAMP is %d: what an agent left in the machine drove it by a person's lease", level)
	}
}
