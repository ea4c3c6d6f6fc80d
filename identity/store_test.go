package identity

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/limits"
)

// clock is a wall clock that a test moves.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.UnixMilli(1_800_000_000_000)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func mustCreate(t *testing.T, s *Store, name string, class Class, ttl time.Duration, scopes ...Scope) string {
	t.Helper()
	token, _, err := s.Create(name, class, scopes, false, ttl)
	if err != nil {
		t.Fatalf("create %s: %v", name, err)
	}
	return token
}

func TestCreateLookupRevoke(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	s, err := Open(dir, c.now)
	if err != nil {
		t.Fatal(err)
	}
	token, info, err := s.Create("line-3", Agent, []Scope{Read, Exec}, true, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^pal_[A-Za-z0-9_-]{43}$`).MatchString(token) {
		t.Errorf("got token %q, want pal_ and 43 characters of base64url", token)
	}
	want := Info{Name: "line-3", Class: Agent, Scopes: []Scope{Read, Exec}, Ask: true, Created: c.now(), Expires: c.now().Add(time.Hour)}
	if diff := cmp.Diff(want, info); diff != "" {
		t.Errorf("Create: want -, got +:\n%s", diff)
	}
	content, err := os.ReadFile(filepath.Join(dir, "tokens.json"))
	if err != nil || strings.Contains(string(content), token) || strings.Contains(string(content), token[4:20]) {
		t.Errorf("got file %s, %v; want one without the secret", content, err)
	}
	if st, err := os.Stat(filepath.Join(dir, "tokens.json")); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v; want 0600", st.Mode(), err)
	}
	again, err := Open(dir, c.now) // as after a restart
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*Store{"same": s, "restarted": again} {
		actor, got, ok := s.Lookup(token)
		wantActor := Actor{Name: "line-3", Class: Agent, Scopes: []Scope{Read, Exec}, Ask: true}
		if diff := cmp.Diff(wantActor, actor) + cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%s: Lookup: got %v, want true; want -, got +:\n%s", name, ok, diff)
		}
		if diff := cmp.Diff([]Info{want}, s.List()); diff != "" {
			t.Errorf("%s: List: want -, got +:\n%s", name, diff)
		}
	}
	if err := s.Revoke("line-3"); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := s.Lookup(token); ok {
		t.Error("got a revoked token accepted")
	}
	if err := s.Revoke("line-3"); !errors.Is(err, ErrNotFound) {
		t.Errorf("second Revoke: got %v, want ErrNotFound", err)
	}
	if again, err = Open(dir, c.now); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := again.Lookup(token); ok || len(again.List()) != 0 {
		t.Error("got a revoked token back after a restart")
	}
}

func TestLookupRefuses(t *testing.T) {
	s := mustOpen(t, newMemDisk())
	token := mustCreate(t, s, "ann", Human, 0, Read)
	last := byte('A')
	if token[len(token)-1] == last {
		last = 'E'
	}
	for name, wrong := range map[string]string{
		"empty": "", "prefix": "pal_", "no-prefix": token[4:], "short": token[:len(token)-1], "long": token + "A", "space": token + " ",
		"last-character": token[:len(token)-1] + string(last), "upper": strings.ToUpper(token), "huge": "pal_" + strings.Repeat("x", 1<<20),
		"two": token + token, "name": "ann", "newline": token + "\n",
	} {
		if actor, _, ok := s.Lookup(wrong); ok || actor.Name != "" || len(actor.Scopes) != 0 {
			t.Errorf("%s: got %+v %v, want nobody", name, actor, ok)
		}
	}
	// An entry whose hash is that of the empty text must not let the empty token in.
	if _, _, ok := mustOpen(t, newMemDisk()).Lookup(""); ok {
		t.Error("got the empty token accepted by an empty store")
	}
}

func TestCallersCannotChangeTheStore(t *testing.T) {
	s := mustOpen(t, newMemDisk())
	scopes := []Scope{Read}
	token, info, err := s.Create("ann", Agent, scopes, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	actor, looked, _ := s.Lookup(token)
	for _, leaked := range [][]Scope{scopes, info.Scopes, actor.Scopes, looked.Scopes, s.List()[0].Scopes} {
		leaked[0] = Admin
	}
	if got, _, _ := s.Lookup(token); got.Can(Admin) || !got.Can(Read) {
		t.Errorf("got scopes %v, want read only", got.Scopes)
	}
}

func TestCreateRefuses(t *testing.T) {
	tests := []struct {
		name   string
		token  string
		class  Class
		scopes []Scope
		ttl    time.Duration
		want   error
	}{
		{"empty-name", "", Human, []Scope{Read}, 0, ErrInvalid},
		{"capital", "Ann", Human, []Scope{Read}, 0, ErrInvalid},
		{"leading-dot", ".ann", Human, []Scope{Read}, 0, ErrInvalid},
		{"slash", "a/b", Human, []Scope{Read}, 0, ErrInvalid},
		{"newline", "ann\n", Human, []Scope{Read}, 0, ErrInvalid},
		{"escape", "a\x1b[2J", Human, []Scope{Read}, 0, ErrInvalid},
		{"too-long", strings.Repeat("a", 65), Human, []Scope{Read}, 0, ErrInvalid},
		{"taken", "ann", Human, []Scope{Read}, 0, ErrExists},
		{"local", "local-human", Human, []Scope{Read}, 0, ErrInvalid},
		{"no-class", "x", "", []Scope{Read}, 0, ErrInvalid},
		{"unknown-class", "x", "god", []Scope{Read}, 0, ErrInvalid},
		{"no-scope", "x", Human, nil, 0, ErrInvalid},
		{"unknown-scope", "x", Human, []Scope{"*"}, 0, ErrInvalid},
		{"scope-twice", "x", Human, []Scope{Read, Read}, 0, ErrInvalid},
		{"agent-admin", "x", Agent, []Scope{Read, Admin}, 0, ErrInvalid},
		{"negative-ttl", "x", Human, []Scope{Read}, -1, ErrInvalid},
	}
	s := mustOpen(t, newMemDisk())
	mustCreate(t, s, "ann", Human, 0, Read)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			token, info, err := s.Create(tt.token, tt.class, tt.scopes, false, tt.ttl)
			if !errors.Is(err, tt.want) || token != "" || info.Name != "" {
				t.Errorf("got %q, %+v, %v; want nothing and %v", token, info, err, tt.want)
			}
		})
	}
	if got := names(s); !cmp.Equal(got, []string{"ann"}) {
		t.Errorf("got tokens %v, want ann only", got)
	}
	mustCreate(t, s, strings.Repeat("a", 64), Agent, 0, Read, Exec, Actuate)
	mustCreate(t, s, "0_.-", Service, 0, Admin)
}

func TestFull(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	// Through the file, because each Create waits for the disk.
	s.mu.Lock()
	for i := range limits.Tokens - localTokens - 1 {
		name := fmt.Sprintf("%064d", i)
		s.entries[name] = entry{Info: Info{Name: name, Class: Service, Scopes: []Scope{Read, Exec, Actuate, Admin}, Ask: true, Expires: time.Now().Add(time.Hour)}}
	}
	s.mu.Unlock()
	last := mustCreate(t, s, "last", Human, 0, Read)
	if _, _, err := s.Create("over", Human, []Scope{Read}, false, 0); !errors.Is(err, ErrFull) {
		t.Errorf("got %v, want ErrFull", err)
	}
	if _, err := s.EnsureLocal(); err != nil {
		t.Errorf("local tokens have their own places: got %v", err)
	}
	again, err := Open(dir, time.Now)
	if err != nil || len(again.List()) != limits.Tokens {
		t.Fatalf("reopen a full store: got %d tokens, %v; want %d", len(again.List()), err, limits.Tokens)
	}
	if _, _, ok := again.Lookup(last); !ok {
		t.Error("got the last token refused")
	}
}

func TestExpiry(t *testing.T) {
	d, c := newMemDisk(), newClock()
	s, err := open(d, c.now)
	if err != nil {
		t.Fatal(err)
	}
	var cut []string
	s.Watch(func(name string) { cut = append(cut, name) })
	short, long := mustCreate(t, s, "short", Agent, time.Minute, Read), mustCreate(t, s, "long", Agent, time.Hour, Read)
	mustCreate(t, s, "ever", Agent, 0, Read)
	if s.Expire(); len(cut) != 0 {
		t.Errorf("before its time: got %v cut, want nobody", cut)
	}
	c.add(time.Minute - time.Millisecond)
	if _, _, ok := s.Lookup(short); !ok {
		t.Error("got a token refused a millisecond before its end")
	}
	c.add(time.Millisecond)
	if _, _, ok := s.Lookup(short); ok {
		t.Error("got a token accepted at its end")
	}
	if !cmp.Equal(names(s), []string{"ever", "long"}) {
		t.Errorf("got %v listed, want the expired one gone", names(s))
	}
	restarted, err := open(d.copy(), c.now)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, ok := restarted.Lookup(short); ok {
		t.Error("got an expired token accepted after a restart")
	}
	if s.Expire(); !cmp.Equal(cut, []string{"short"}) {
		t.Errorf("after its time: got %v cut, want short once", cut)
	}
	mustCreate(t, s, "short", Human, 0, Read) // the name is free again
	c.add(time.Hour)
	mustCreate(t, s, "other", Human, 0, Read)
	if _, _, ok := s.Lookup(long); ok || !cmp.Equal(cut, []string{"short", "long"}) {
		t.Errorf("got long valid %v, cut %v; want it found expired by Create", ok, cut)
	}
	if s.Expire(); !cmp.Equal(names(s), []string{"ever", "other", "short"}) {
		t.Errorf("got %v listed, want those that never end", names(s))
	}
}

// The watcher is called when the token is invalid already, so that a peer who comes back at once stays out.
func TestWatchersSeeAnInvalidToken(t *testing.T) {
	s := mustOpen(t, newMemDisk())
	token := mustCreate(t, s, "ann", Human, 0, Read)
	calls := 0
	for range 2 {
		s.Watch(func(name string) {
			calls++
			if _, _, ok := s.Lookup(token); ok || name != "ann" {
				t.Errorf("watcher of %s: got the token still valid %v", name, ok)
			}
		})
	}
	if err := s.Revoke("ann"); err != nil {
		t.Fatal(err)
	}
	if err := s.Revoke("nobody"); !errors.Is(err, ErrNotFound) || calls != 2 {
		t.Errorf("got %v and %d calls, want ErrNotFound and each of two watchers called once", err, calls)
	}
}

func TestDamagedFileFailsClosed(t *testing.T) {
	row := func(change string) string {
		base := `"name":"ann","class":"human","scopes":["read"],"created_ms":1,"sha256":"` + strings.Repeat("ab", 32) + `"`
		if change != "" {
			key, _, _ := strings.Cut(change, ":")
			base = regexp.MustCompile(key+`:("[^"]*"|\[[^\]]*\]|\d+)`).ReplaceAllLiteralString(base, change)
		}
		return "{" + base + "}"
	}
	file := func(rows ...string) string { return `{"version":1,"tokens":[` + strings.Join(rows, ",") + `]}` }
	good := file(row(""))
	tests := map[string]string{
		"empty":           "",
		"cut-off":         good[:len(good)-5],
		"rubbish-after":   good + "x",
		"null":            "null",
		"no-version":      `{"tokens":[]}`,
		"newer":           `{"version":2,"tokens":[]}`,
		"unknown-field":   `{"version":1,"tokens":[],"more":1}`,
		"unknown-in-row":  file(strings.Replace(row(""), "{", `{"admin":true,`, 1)),
		"duplicate-key":   file(strings.Replace(row(""), "{", `{"class":"agent",`, 1)),
		"same-name-twice": file(row(""), row("")),
		"bad-name":        file(row(`"name":"Ann"`)),
		"no-class":        file(row(`"class":""`)),
		"no-scopes":       file(row(`"scopes":[]`)),
		"unknown-scope":   file(row(`"scopes":["root"]`)),
		"agent-admin":     file(strings.Replace(row(`"scopes":["admin"]`), `"human"`, `"agent"`, 1)),
		"short-hash":      file(row(`"sha256":"abab"`)),
		"long-hash":       file(row(`"sha256":"` + strings.Repeat("ab", 33) + `"`)),
		"no-hex":          file(row(`"sha256":"` + strings.Repeat("xy", 32) + `"`)),
		"negative-end":    file(strings.Replace(row(""), "{", `{"expires_ms":-1,`, 1)),
	}
	many := make([]string, limits.Tokens+1)
	for i := range many {
		many[i] = row(fmt.Sprintf(`"name":"n%d"`, i))
	}
	tests["too-many"] = file(many...)
	for name, content := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "tokens.json"), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Open(dir, time.Now)
			if s != nil || !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "tokens.json") {
				t.Errorf("got %v, %v; want no store and ErrDamaged naming the file", s, err)
			}
			if kept, err := os.ReadFile(filepath.Join(dir, "tokens.json")); err != nil || string(kept) != content {
				t.Errorf("got the file changed to %q, %v; want it as it was, for a person to look at", kept, err)
			}
		})
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tokens.json"), []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, time.Now); err != nil {
		t.Errorf("the file that the others were made of: got %v, want no error", err)
	}
}

func TestFileOpenToOthers(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	mustCreate(t, s, "ann", Human, 0, Read)
	if err := os.Chmod(filepath.Join(dir, "tokens.json"), 0o620); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, time.Now); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("got %v, want ErrDamaged that says what to do", err)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "tokens.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(dir, time.Now); s != nil || err == nil {
		t.Errorf("a folder in place of the file: got %v, %v; want an error", s, err)
	}
	s, err := Open(filepath.Join(dir, "missing"), time.Now)
	if err != nil {
		t.Fatalf("a missing folder holds no tokens: got %v", err)
	}
	if _, _, err := s.Create("ann", Human, []Scope{Read}, false, 0); err == nil || len(s.List()) != 0 {
		t.Errorf("Create without a folder: got %v and tokens %v, want an error and none", err, s.List())
	}
}
