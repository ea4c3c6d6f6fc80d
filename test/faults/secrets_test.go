//go:build unix

package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/transport/ws"
)

// secretCode has secrets as programs have them. Every one is called CANARY and a number.
const secretCode = `
password = "CANARY-11"
WIFI_PASSWORD = 'CANARY-12'
cfg = {"ssid": "home", "password": "CANARY-13", 'api_key': 'CANARY-14'}
headers = {"Authorization": "Bearer CANARY-15"}
def connect(ssid, password=None): pass
connect("home", password="CANARY-16")
url = "http://h/?token=CANARY-17&x=1"
psk: str = "CANARY-18"
`

// Secrets stand in what is asked and said; they are in no file of the audit log, no event, no status, no describe and no line of the
// log of the program, which tells all that it can.
func TestSecrets(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	p := up(t, state, "--log-level=debug")
	human, agent := p.dial(""), p.agent()
	made, err := human.Token(t.Context(), protocol.Token{Op: "create", Name: "made", Class: "agent", Scopes: []string{"read", "exec", "actuate"}})
	if err != nil || made.Token == "" {
		t.Fatal(err)
	}
	secrets := []string{"CANARY", made.Token, target(t, state).Token, agentToken(t, state)}
	maker := p.dial(made.Token)
	for _, c := range []*client.Client{agent, human, maker} {
		for _, e := range []protocol.Exec{
			{Code: secretCode}, {Code: secretCode + "\nraise ValueError('password=CANARY-21')"}, {Code: secretCode + "print('token: CANARY-22')"},
			{Code: secretCode + "Pin('password=WORD-23', Pin.OUT).on()"}, {Code: secretCode + "\nwhile True: pass", TimeoutMS: new(int64(50))},
		} {
			if _, err := c.Exec(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		id, err := c.Register(t.Context(), protocol.Register{Brief: new(every("secret", 20*time.Millisecond)), Code: secretCode + "raise ValueError('api_key=CANARY-24')"})
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the task fails for good", func() bool {
			a, err := c.Task(t.Context(), id.TaskID)
			return err == nil && a.Status == "paused"
		})
	}
	raw, err := ws.Dial(t.Context(), target(t, state).URL, made.Token, "")
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close("done") // it may have ended
	for _, m := range []string{
		`{"id":"1","type":"exec","code":"1","meta":{"password":"CANARY-31","token":{"a":"CANARY-32"}}}`, `{"id":"2","type":"hello","token":"pal_CANARY-33-aaaaaaaaaaaaaaaaaaaaaaaa"}`,
		`{"id":"3","type":"exec","code":"1","password":"CANARY-34"}`, `{"id":"4","type":"fs","op":"put","path":"/s.py","data_b64":"cGFzc3dvcmQ9IkNBTkFSWSI=","size":17,"sha256":"x"}`,
		`{"id":"token=CANARY-36","type":"exec","code":"2"}`,
	} {
		say(t, raw, m)
	}
	if _, err := ws.Dial(t.Context(), target(t, state).URL, "pal_CANARY-41-aaaaaaaaaaaaaaaaaaaaaaaaaa", "password=CANARY-42"); err == nil {
		t.Error("a wrong token is let in")
	}
	looked := map[string]any{}
	looked["status"], err = human.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if looked["describe"], err = human.Describe(t.Context()); err != nil {
		t.Fatal(err)
	}
	if looked["audit"], err = human.Audit(t.Context(), protocol.Audit{Op: "export"}); err != nil {
		t.Fatal(err)
	}
	if looked["conns"], err = human.Conns(t.Context()); err != nil {
		t.Fatal(err)
	}
	zero := uint64(0)
	events, cancel, err := human.Subscribe(t.Context(), []string{"*"}, &zero)
	if err != nil {
		t.Fatal(err)
	}
	status, err := human.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for e := range events {
		if name := fmt.Sprint("event ", e.Event); e.Event != "policy_denied" && e.Event != "task_paused" { // these carry a program's own words
			looked[name+fmt.Sprint(e.Seq)] = e
		}
		if e.Seq >= status.EventSeq {
			break
		}
	}
	cancel()
	for what, answer := range looked {
		text, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		wantNoSecret(t, what, string(text), secrets)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-p.ended
	wantNoSecret(t, "the program's log", p.log.String(), secrets)
	if len(p.log.String()) < 100 {
		t.Errorf("the log says nothing: %q", p.log.String())
	}
	files, err := filepath.Glob(filepath.Join(state, "guard", "audit", "*.log"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no audit log: %v", err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "[redacted]"); n < 20 {
			t.Errorf("%s: only %d secrets were taken out", f, n)
		}
		wantNoSecret(t, f, string(text), append(secrets, "WORD-23")) // the name of a pin that a program made up is told as it is elsewhere
	}
}

func target(t testing.TB, state string) client.Target {
	t.Helper()
	at, err := client.FromState(state)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func wantNoSecret(t testing.TB, where, text string, secrets []string) {
	t.Helper()
	for _, s := range secrets {
		for rest := text; ; {
			i := strings.Index(rest, s)
			if i < 0 {
				break
			}
			t.Errorf("%s has a secret: …%s…", where, rest[max(0, i-60):min(len(rest), i+len(s)+20)])
			rest = rest[i+len(s):]
		}
	}
}
