package audit

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/pal-terminal/pal/store"
	"github.com/pal-terminal/pal/store/crash"
)

// Power is cut at every operation: what was acknowledged is there, and the log opens and verifies.
func TestCutAnywhere(t *testing.T) {
	tried := 0
	for cut := 0; ; cut++ {
		d := crash.New(uint64(cut))
		d.CutAfter(cut)
		var kept Head
		done := false
		if l, _, err := Open(d, "audit", Options{SegmentBytes: 1 << 10}); err == nil {
			for n := range 6 {
				if l.Append(intent(n)).Wait(t.Context()) != nil {
					break
				}
				kept = l.Head()
			}
			done = l.Close() == nil
		}
		for seed := range uint64(8) {
			tried++
			after := d.Restart(seed)
			l, _, err := Open(after, "audit", Options{})
			if err != nil || l.Ready() != nil {
				t.Fatalf("cut %d, seed %d: open: got %v", cut, seed, err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if r, err := VerifyFiles(t.Context(), after, "audit", "", &kept); err != nil || r.Problem != "" {
				t.Fatalf("cut %d, seed %d: got %+v, %v, want head %d", cut, seed, r, err, kept.Size)
			}
		}
		if done {
			break
		}
	}
	t.Logf("%d cuts tried", tried)
}

func TestDamageWaitsForRoom(t *testing.T) {
	d := crash.New(1)
	l, _, err := Open(d, "audit", Options{})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, l, 0, 3)
	kept := l.Head()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := d.Open("audit/"+l.name, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("torn"), l.size); err != nil {
		t.Fatal(err)
	}
	d.Full(true)
	if l, _, err = Open(d, "audit", Options{}); err != nil || l.Ready() == nil {
		t.Fatalf("full: got %v, want a log that is not ready", err)
	}
	if err := l.Append(intent(9)).Wait(t.Context()); err == nil {
		t.Error("an intent was taken by a full disk")
	}
	d.Full(false)
	if err := l.Close(); err != nil { // it tries again
		t.Fatal(err)
	}
	mustVerify(t, d, &kept)
}

func TestRedact(t *testing.T) {
	dir := t.TempDir()
	l, d := sample(t, dir, Options{Secrets: func() []string { return []string{"CANARY", "CANARY-word"} }})
	for _, data := range []string{
		`{"a":[{"Password":"x-hidden"}],"token":["x-hidden"],"wifi_psk":7777777}`,
		`{"code":"password = \"\"\"x-hidden\"\"\""}`, `{"code":"password: str = 'x-hidden'"}`, `{"code":"if pwd == \"a\\\"x-hidden\":"}`,
		`{"stdout":"Authorization: Basic x-hidden"}`, `{"stdout":"Bearer x-hidden"}`, `{"code":"SECRET_KEY = b'x-hidden"}`,
		`{"code":"d[\"api_key\"] = 'x-hidden'"}`, `{"code":"say(CANARY-word)"}`, `{"stdout":"pal_x-hiddenx-hiddenx-hidden"}`,
		`{"CANARY":1,"CANARY-word":2}`, "{\"a\":\"\xff\"}",
	} {
		e := intent(1)
		e.ID, e.Data = "\xff", jsontext.Value(data)
		if err := l.Append(e).Wait(t.Context()); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
	}
	if err := l.Close(); err != nil && !errors.Is(err, errLow) {
		t.Fatal(err)
	}
	names, err := segments(d, "audit")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := store.Read(d, "audit/"+name, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			for _, secret := range []string{"hidden", "CANARY", "-word", "7777777"} {
				if strings.Contains(line, secret) {
					t.Errorf("%s is in %s", secret, line)
				}
			}
		}
	}
}
