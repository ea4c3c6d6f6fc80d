package answers

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

func hashOf(s string) [32]byte { return sha256.Sum256([]byte(s)) }

// ask is begin, with what is delivered or found in got.
func (a *Store) ask(id, bytes string, now time.Time) (fresh *Entry, got *[]byte, refusal *protocol.Error) {
	got = new([]byte)
	fresh, body, refusal := a.Begin(Key{"actor", "client", id}, hashOf(bytes), now, func(b []byte) { *got = b })
	if body != nil {
		*got = body
	}
	return fresh, got, refusal
}

func wantCode(t *testing.T, what string, err *protocol.Error, want protocol.Code) {
	t.Helper()
	if err == nil || err.Code != want {
		t.Errorf("%s: got %v, want code %s", what, err, want)
	}
}

func TestAnswersOnce(t *testing.T) {
	a, now := New(), time.Now()
	e, _, _ := a.ask("1", "x", now)
	if e == nil {
		t.Fatal("a new id: got no entry")
	}
	// While it runs, the same request waits, another one with its id is refused, and there is nothing to fetch yet.
	again, early, refusal := a.ask("1", "x", now)
	if again != nil || refusal != nil || *early != nil {
		t.Fatalf("repetition of a running request: got entry %v refusal %v answer %q, want it to wait", again, refusal, *early)
	}
	_, _, refusal = a.ask("1", "y", now)
	wantCode(t, "other bytes", refusal, protocol.CodeIDReused)
	_, refusal = a.Fetch(e.key)
	wantCode(t, "fetch of a running request", refusal, protocol.CodeBusy)

	a.Finish(e, Written{Kept: []byte("done"), Keep: true}, now)
	if string(*early) != "done" {
		t.Errorf("the one that waited: got %q, want the answer", *early)
	}
	_, late, refusal := a.ask("1", "x", now)
	if refusal != nil || string(*late) != "done" {
		t.Errorf("repetition after the end: got %q and %v, want the stored answer", *late, refusal)
	}
	if body, err := a.Fetch(e.key); err != nil || string(body) != "done" {
		t.Errorf("fetch: got %q and %v, want the stored answer", body, err)
	}
	_, err := a.Fetch(Key{"somebody", "client", "1"})
	wantCode(t, "fetch by another actor", err, protocol.CodeNotFound)
}

func TestAnswersForget(t *testing.T) {
	a, now := New(), time.Now()
	e, _, _ := a.ask("1", "x", now)
	_, waiting, _ := a.ask("1", "x", now)
	a.Finish(e, Written{Kept: []byte("busy"), Keep: false}, now)
	if string(*waiting) != "busy" {
		t.Errorf("the one that waited: got %q, want the refusal", *waiting)
	}
	if again, _, refusal := a.ask("1", "other bytes", now); again == nil {
		t.Errorf("an id refused before admission: got %v, want it free", refusal)
	}
}

func TestAnswersWaitersAreBounded(t *testing.T) {
	a, now := New(), time.Now()
	a.ask("1", "x", now)
	for range limits.RequestsPerConn {
		if _, _, refusal := a.ask("1", "x", now); refusal != nil {
			t.Fatalf("repetition within the limit: %v", refusal)
		}
	}
	_, _, refusal := a.ask("1", "x", now)
	wantCode(t, "one repetition more", refusal, protocol.CodeBusy)
}

// Bodies leave before hashes: an id whose body is gone must answer expired and never run again. A request that runs all the
// while must neither escape the bound when it ends.
func TestAnswersExpire(t *testing.T) {
	a, now := New(), time.Now()
	long, _, _ := a.ask("long", "x", now)
	body := make([]byte, 1<<20)
	n := limits.DedupBytes/len(body) + 3
	for i := range n {
		e, _, _ := a.ask(fmt.Sprint(i), "x", now)
		a.Finish(e, Written{Kept: body, Keep: true}, now)
	}
	_, _, refusal := a.ask("0", "x", now)
	wantCode(t, "the oldest", refusal, protocol.CodeExpired)
	a.Finish(long, Written{Kept: body, Keep: true}, now)
	if _, got, refusal := a.ask("long", "x", now); refusal != nil || len(*got) != len(body) {
		t.Errorf("the newest: got %d bytes and %v, want the answer", len(*got), refusal)
	}
	for i := range n {
		e, _, _ := a.ask(fmt.Sprint("later", i), "x", now)
		a.Finish(e, Written{Kept: body, Keep: true}, now)
	}
	_, refusal = a.Fetch(long.key)
	wantCode(t, "the one that ran long, in its turn", refusal, protocol.CodeExpired)
	kept := 0
	for _, e := range a.entries {
		kept += len(e.body)
	}
	if a.bytes > limits.DedupBytes || kept != a.bytes {
		t.Errorf("bytes kept: got %d, counted as %d, want at most %d", kept, a.bytes, limits.DedupBytes)
	}
}

func TestAnswersWindow(t *testing.T) {
	a, now := New(), time.Now()
	running, _, _ := a.ask("running", "x", now)
	for i := range limits.DedupIDs + 10 {
		e, _, _ := a.ask(fmt.Sprint(i), "x", now)
		a.Finish(e, Written{Kept: []byte("a"), Keep: true}, now)
	}
	if len(a.order) != limits.DedupIDs || len(a.entries) != limits.DedupIDs+1 {
		t.Errorf("ids kept beside a running request: got %d and %d, want %d and the running one", len(a.order), len(a.entries)-1, limits.DedupIDs)
	}
	late := now.Add(limits.DedupWindow + time.Second)
	// A request that still runs is what prevents a second run: it stays.
	if e, _, refusal := a.ask("running", "x", late); e != nil || refusal != nil {
		t.Errorf("running request after the window: got entry %v and %v, want it to wait", e, refusal)
	}
	if len(a.entries) != 1 {
		t.Errorf("after the window: got %d ids, want the running one", len(a.entries))
	}
	a.Finish(running, Written{Kept: []byte("a"), Keep: true}, late)
	if e, _, _ := a.ask("running", "x", late.Add(limits.DedupWindow)); e != nil {
		t.Error("within the window after its end: got a second run, want the answer")
	}
	if e, _, _ := a.ask("running", "x", late.Add(limits.DedupWindow+1)); e == nil {
		t.Error("after the window: got a repetition, want the id to be free")
	}
}

// What is remembered of a long answer is short and says so; what was refused before admission is not remembered.
func TestWrite(t *testing.T) {
	long := strings.Repeat("é", limits.DedupStreamKept)
	w := Write(protocol.Result{Header: protocol.NewHeader(nil, protocol.AnswerResult), Stdout: long, Stderr: "short", DroppedBytes: 1})
	kept, err := client.DecodeAnswer(w.Kept)
	if err != nil {
		t.Fatal(err)
	}
	res := kept.(*protocol.Result)
	if len(res.Stdout) > limits.DedupStreamKept || !utf8.ValidString(res.Stdout) || res.Stderr != "short" || !res.Truncated || res.DroppedBytes != 1+len(long)-len(res.Stdout) {
		t.Errorf("kept: got %d bytes and %q, truncated %v, %d dropped", len(res.Stdout), res.Stderr, res.Truncated, res.DroppedBytes)
	}
	if !strings.Contains(string(w.Sent), long) || !w.Keep {
		t.Error("sent: got less than the whole answer, or one that is not kept")
	}
	for _, code := range []protocol.Code{
		protocol.CodeBusy, protocol.CodeUnavailable, protocol.CodeStorage, protocol.CodeUnauthorized, protocol.CodeTooLarge,
	} {
		if Write(protocol.Refuse(nil, &protocol.Error{Code: code})).Keep {
			t.Errorf("%s: got it remembered", code)
		}
	}
	for _, code := range []protocol.Code{protocol.CodeDenied, protocol.CodeConflict, protocol.CodeInterrupted, protocol.CodeExpired} {
		if !Write(protocol.Refuse(nil, &protocol.Error{Code: code})).Keep {
			t.Errorf("%s: got it not remembered", code)
		}
	}
	// An answer that cannot be encoded is still one.
	id := "mine"
	if raw := string(Encode(protocol.SimAnswer{Header: protocol.NewHeader(&id, protocol.AnswerSim), Sim: []byte("{")})); !strings.Contains(raw, `"code":"internal"`) || !strings.Contains(raw, `"id":"mine"`) {
		t.Errorf("what cannot be encoded: got %s, want code internal under its id", raw)
	}
}
