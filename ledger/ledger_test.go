package ledger

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pal-terminal/pal/answers"
	"github.com/pal-terminal/pal/audit"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/store"
	"github.com/pal-terminal/pal/store/crash"
)

// start opens a ledger on a disk, as a start of a terminal does.
func start(t testing.TB, d *crash.Disk) (*Ledger, *answers.Store) {
	t.Helper()
	a := answers.New()
	l := New(a)
	log, cut, err := audit.Open(d, "audit", audit.Options{
		Terminal: "test", Replay: l.Replay, Since: time.Now().Add(-limits.DedupWindow), OnState: l.State,
	})
	if err != nil {
		t.Fatal(err)
	}
	l.Start(log, cut)
	return l, a
}

func decode(t testing.TB, text string) *protocol.Request {
	t.Helper()
	req, err := protocol.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func durable(t testing.TB, w Work) {
	t.Helper()
	if err := w.Durable(t.Context()); err != nil {
		t.Fatal(err)
	}
}

var agent = identity.Actor{Name: "agent", Class: identity.Agent}

func key(id string) answers.Key { return answers.Key{Actor: "agent", Client: "c", ID: id} }

const (
	one   = `{"version":"1","id":"1","type":"exec","code":"led.on()"}`
	two   = `{"version":"1","id":"2","type":"exec","code":"led.off()"}`
	three = `{"version":"1","id":"3","type":"pin_set","pin":"LED","value":1}`
	four  = `{"version":"1","id":"4","type":"exec","code":"1"}`
)

// What was answered is answered again after a loss of power, what was begun is interrupted, what was not carried out may come again.
func TestStartAfterCut(t *testing.T) {
	d := crash.New(1)
	l, _ := start(t, d)
	done, begun, again, nameless := decode(t, one), decode(t, two), decode(t, three), decode(t, four)
	w := l.Intend(agent, "c", done, "t_1")
	durable(t, w)
	result := protocol.Result{Header: protocol.NewHeader(done.ID, protocol.AnswerResult), Stdout: "on", Trace: "t_1"}
	must(t, w.Done(t.Context(), result, false))
	durable(t, l.Intend(agent, "c", begun, "t_2"))
	w = l.Intend(agent, "c", again, "t_3")
	durable(t, w)
	must(t, w.Done(t.Context(), protocol.Refuse(again.ID, &protocol.Error{Code: protocol.CodeBusy}), true))
	for i, name := range []string{"", "\x00conn1"} {
		w = l.Intend(agent, name, nameless, "t_4"+string(rune('a'+i)))
		durable(t, w)
		must(t, w.Done(t.Context(), result, false))
	}

	l, a := start(t, d.Restart(1))
	if l.Restored != 3 || len(l.Cut) != 1 || l.Cut[0].Trace != "t_2" {
		t.Errorf("got %d restored and %+v cut off, want 3 and t_2", l.Restored, l.Cut)
	}
	begin := func(req *protocol.Request) (*answers.Entry, []byte, *protocol.Error) {
		return a.Begin(key(*req.ID), req.Hash, time.Now(), func([]byte) {})
	}
	if _, body, _ := begin(done); string(body) != string(answers.Encode(result)) {
		t.Errorf("what was answered: got %s, want %s", body, answers.Encode(result))
	}
	if _, body, _ := begin(begun); !strings.Contains(string(body), `"code":"interrupted"`) || !strings.Contains(string(body), `"id":"2"`) || !strings.Contains(string(body), `"trace":"t_2"`) {
		t.Errorf("what was begun: got %s, want interrupted, with id and trace", body)
	}
	for _, req := range []*protocol.Request{again, nameless} {
		if entry, body, err := begin(req); entry == nil {
			t.Errorf("id %s: got %s, %v, want a new request", *req.ID, body, err)
		}
	}
	other := done.Hash
	other[0]++
	if _, _, err := a.Begin(key("1"), other, time.Now(), func([]byte) {}); err == nil || err.Code != protocol.CodeIDReused {
		t.Errorf("the id with other bytes: got %v, want id_reused", err)
	}
	if entry, _, _ := a.Begin(answers.Key{Actor: "other", Client: "c", ID: "1"}, done.Hash, time.Now(), func([]byte) {}); entry == nil {
		t.Error("the id of another actor: got an answer that is not his")
	}
}

// Cut at each operation of the disk: an intent that was durable is known after the start, and an outcome with its answer.
func TestCutAtEachOperation(t *testing.T) {
	for n, ended := 0, false; !ended; n++ {
		d := crash.New(uint64(n))
		d.CutAfter(n)
		l, _ := start(t, d)
		req := decode(t, one)
		w := l.Intend(agent, "c", req, "t_1")
		begun := w.Durable(t.Context()) == nil
		told := begun && w.Done(t.Context(), protocol.Result{Header: protocol.NewHeader(req.ID, protocol.AnswerResult), Stdout: "on"}, false) == nil
		ended = l.Log().Close() == nil
		for seed := range uint64(6) {
			_, a := start(t, d.Restart(seed))
			entry, body, _ := a.Begin(key("1"), req.Hash, time.Now(), func([]byte) {})
			switch {
			case told && !strings.Contains(string(body), `"stdout":"on"`):
				t.Errorf("cut %d, seed %d: the answer is lost: %s", n, seed, body)
			case begun && entry != nil:
				t.Errorf("cut %d, seed %d: it would be done again", n, seed)
			}
		}
	}
}

// A full disk lets nothing be driven, and says so; with room again it does.
func TestFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := crash.New(1)
		l, _ := start(t, d)
		if err := l.Ready(); err != nil {
			t.Fatal(err)
		}
		d.Full(true)
		w := l.Intend(agent, "c", decode(t, one), "t_1")
		if err := w.Durable(t.Context()); err == nil || err.Code != protocol.CodeStorage || err.Rule != "audit.intent" {
			t.Errorf("intent: got %v, want storage by audit.intent", err)
		}
		if err := l.Ready(); err == nil || err.Code != protocol.CodeStorage || err.Rule != "audit.room" {
			t.Errorf("ready: got %v, want storage by audit.room", err)
		}
		if err := l.Sync(t.Context()); err == nil || err.Rule != "audit.sync" {
			t.Errorf("sync: got %v, want storage by audit.sync", err)
		}
		d.Full(false)
		time.Sleep(3 * limits.AuditRetry) //nolint:forbidigo // in a bubble: no fact comes but that time has passed
		if err := l.Ready(); err != nil {
			t.Errorf("with room again: got %v", err)
		}
		durable(t, l.Intend(agent, "c", decode(t, two), "t_2"))
		if err := l.Sync(t.Context()); err != nil {
			t.Errorf("with room again: sync: got %v", err)
		}
		must(t, l.Log().Close())
	})
}

// Who waits for the disk waits no longer than he says.
func TestWaitEnds(t *testing.T) {
	l, _ := start(t, crash.New(1))
	ctx, done := context.WithCancelCause(t.Context())
	w := l.Intend(agent, "c", decode(t, one), "t_1")
	durable(t, w)
	done(errors.New("enough"))
	w.receipt = &audit.Receipt{} // one that never comes
	if err := w.Durable(ctx); err == nil || !strings.Contains(err.Message, "enough") {
		t.Errorf("got %v, want storage, as nobody waits any more", err)
	}
}

// stuck is a disk that hangs in its syncs.
type stuck struct {
	*crash.Disk
	hang chan struct{}
}

type stuckFile struct {
	store.File
	d *stuck
}

func (s *stuck) Open(name string, create bool) (store.File, error) {
	f, err := s.Disk.Open(name, create)
	return stuckFile{f, s}, err
}

func (f stuckFile) Sync() error {
	if f.d.hang != nil {
		<-f.d.hang
	}
	return f.File.Sync()
}

// A disk that hangs does not keep who waits for it before a drive of high danger: it may be the one that reads a connection's stop.
func TestSyncEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &stuck{Disk: crash.New(1)}
		log, cut, err := audit.Open(d, "audit", audit.Options{Terminal: "test"})
		must(t, err)
		l := New(answers.New())
		l.Start(log, cut)
		l.Event("estop", nil)
		d.hang = make(chan struct{})
		began := time.Now()
		if err := l.Sync(t.Context()); err == nil || time.Since(began) > limits.AuditPatience {
			t.Errorf("got %v after %v, want storage in %v", err, time.Since(began), limits.AuditPatience)
		}
		close(d.hang)
		must(t, log.Close())
	})
}

// Without a log everything is allowed.
func TestNoLog(t *testing.T) {
	l := New(answers.New())
	l.Start(nil, nil)
	w := l.Intend(agent, "c", decode(t, one), "t_1")
	durable(t, w)
	must(t, w.Done(t.Context(), protocol.Result{}, false))
	l.Run("agent", "task", "t_2", nil)
	l.Event("estop", nil)
	if l.Ready() != nil || l.Sync(t.Context()) != nil || l.Log() != nil {
		t.Error("a ledger without a log refuses")
	}
}

// entries reads the log.
func entries(t testing.TB, l *Ledger) (list []audit.Entry) {
	t.Helper()
	if err := l.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	texts, _, err := l.Log().Page(0, 1000)
	must(t, err)
	for _, text := range texts {
		var e audit.Entry
		must(t, json.Unmarshal(text, &e))
		if e.Kind != audit.KindSegment && e.Kind != audit.KindCheckpoint {
			list = append(list, e)
		}
	}
	return list
}

// What the guard did by itself is kept, what levels and programs say is not; bytes that are only carried are not kept.
func TestWhatIsKept(t *testing.T) {
	l, _ := start(t, crash.New(1))
	for _, name := range []string{"pin_change", "adc_threshold", "task_run", "user:x", "output_safe"} {
		l.Event(name, []byte(`{}`))
	}
	l.Run("agent", "task", "t_9", map[string]any{"task_id": "001"})
	l.Intend(agent, "c", decode(t, `{"version":"1","id":"f","type":"fs","op":"put","path":"/a","data_b64":"c2VjcmV0"}`), "t_1")
	long := strings.Repeat("x", limits.AuditCodeBytes+100)
	req := decode(t, `{"version":"1","id":"l","type":"exec","code":"`+long+`","meta":{"why":"because"}}`)
	w := l.Intend(agent, "c", req, "t_2")
	out := strings.Repeat("y", limits.AuditAnswerBytes+7)
	must(t, w.Done(t.Context(), protocol.Result{Header: protocol.NewHeader(req.ID, protocol.AnswerResult), Stdout: out}, false))
	var types []string
	for _, e := range entries(t, l) {
		types = append(types, e.Kind+" "+e.Type)
		text := string(e.Data)
		if strings.Contains(text, "c2VjcmV0") || len(text) > limits.AuditCodeBytes+500 || strings.Contains(text, out) {
			t.Errorf("%s %s: got %d bytes: %.100s", e.Kind, e.Type, len(text), text)
		}
		if e.Trace == "t_2" && e.Kind == audit.KindIntent && !strings.Contains(text, "because") {
			t.Errorf("got no meta in %.100s", text)
		}
		if e.Trace == "t_2" && e.Kind == audit.KindOutcome && !strings.Contains(text, `"dropped_bytes":7`) {
			t.Errorf("got %s, want 7 bytes dropped", text)
		}
	}
	if got := strings.Join(types, ", "); got != "event output_safe, outcome task, intent fs, intent exec, outcome exec" {
		t.Errorf("got %s", got)
	}
	if body := req.Body.(*protocol.Exec); len(body.Code) != len(long) {
		t.Error("the request itself was cut")
	}
}

// A terminal whose clock was wrong, and was set while it was off, still knows what it did just before.
func TestClockIsSetWhileOff(t *testing.T) {
	d := crash.New(1)
	wrong := func() time.Time { return time.Now().AddDate(-1, 0, 0) }
	log, cut, err := audit.Open(d, "audit", audit.Options{Terminal: "test", Now: wrong})
	must(t, err)
	l := New(answers.New())
	l.Start(log, cut)
	done, begun := decode(t, one), decode(t, two)
	w := l.Intend(agent, "c", done, "t_1")
	durable(t, w)
	must(t, w.Done(t.Context(), protocol.Result{Header: protocol.NewHeader(done.ID, protocol.AnswerResult)}, false))
	durable(t, l.Intend(agent, "c", begun, "t_2"))
	_, a := start(t, d.Restart(1))
	for _, req := range []*protocol.Request{done, begun} {
		if fresh, _, _ := a.Begin(key(*req.ID), req.Hash, time.Now(), func([]byte) {}); fresh != nil {
			t.Errorf("id %s: it would be done again", *req.ID)
		}
	}
}
