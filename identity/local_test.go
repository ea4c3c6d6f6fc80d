package identity

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func mustLocal(t *testing.T, s *Store) Local {
	t.Helper()
	local, err := s.EnsureLocal()
	if err != nil {
		t.Fatal(err)
	}
	return local
}

func openDir(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEnsureLocal(t *testing.T) {
	dir := t.TempDir()
	local := mustLocal(t, openDir(t, dir))
	s := openDir(t, dir)
	for token, want := range map[string]Actor{
		local.Human: {Name: "local-human", Class: Human, Scopes: []Scope{Read, Exec, Actuate, Admin}},
		local.Agent: {Name: "local-agent", Class: Agent, Scopes: []Scope{Read, Exec, Actuate}},
	} {
		got, info, ok := s.Lookup(token)
		if diff := cmp.Diff(want, got); !ok || diff != "" || !info.Expires.IsZero() {
			t.Errorf("got %v, expires %v; want true, never; want -, got +:\n%s", ok, info.Expires, diff)
		}
		path := filepath.Join(dir, LocalFile(want.Name))
		content, err := os.ReadFile(path)
		if err != nil || strings.TrimSpace(string(content)) != token {
			t.Errorf("%s: got %q, %v; want the token", path, content, err)
		}
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: got mode %v, %v; want 0600", path, st.Mode(), err)
		}
	}
	if again := mustLocal(t, s); again != local {
		t.Error("got other tokens the second time, want the same")
	}
}

// Whatever is wrong with a local token, it is made anew, the old one ends and the other one stays.
func TestEnsureLocalRenews(t *testing.T) {
	tests := map[string]func(t *testing.T, dir string, s *Store){
		"file-gone": func(t *testing.T, dir string, _ *Store) {
			if err := os.Remove(filepath.Join(dir, "local-agent.token")); err != nil {
				t.Fatal(err)
			}
		},
		"file-empty": func(t *testing.T, dir string, _ *Store) { writeLocal(t, dir, "", 0o600) },
		"file-of-another-token": func(t *testing.T, dir string, s *Store) {
			writeLocal(t, dir, mustLocal(t, s).Human, 0o600)
		},
		"file-open-to-others": func(t *testing.T, dir string, s *Store) {
			writeLocal(t, dir, mustLocal(t, s).Agent, 0o644)
		},
		"revoked": func(t *testing.T, _ string, s *Store) {
			if err := s.Revoke("local-agent"); err != nil {
				t.Fatal(err)
			}
		},
		"other-rights": func(t *testing.T, _ string, s *Store) {
			s.mu.Lock()
			e := s.entries["local-agent"]
			e.Scopes = append(slices.Clone(e.Scopes), Admin)
			s.entries["local-agent"] = e
			s.mu.Unlock()
		},
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := openDir(t, dir)
			before := mustLocal(t, s)
			spoil(t, dir, s)
			after := mustLocal(t, s)
			if after.Agent == before.Agent || after.Human != before.Human {
				t.Errorf("got agent renewed %v, human renewed %v; want true, false", after.Agent != before.Agent, after.Human != before.Human)
			}
			restarted := openDir(t, dir)
			for _, s := range []*Store{s, restarted} {
				if _, _, ok := s.Lookup(before.Agent); ok {
					t.Error("got the old token still accepted")
				}
				if actor, _, ok := s.Lookup(after.Agent); !ok || actor.Can(Admin) {
					t.Errorf("got %+v %v for the new token, want an agent without admin", actor, ok)
				}
			}
			if st, err := os.Stat(filepath.Join(dir, "local-agent.token")); err != nil || st.Mode().Perm() != 0o600 {
				t.Errorf("got mode %v, %v; want 0600", st.Mode(), err)
			}
			if again := mustLocal(t, restarted); again != after {
				t.Error("got other tokens after a restart, want the same")
			}
		})
	}
}

func writeLocal(t *testing.T, dir, token string, mode os.FileMode) {
	t.Helper()
	path := filepath.Join(dir, "local-agent.token")
	if err := os.WriteFile(path, []byte(token+"\n"), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestEnsureLocalTellsWatchers(t *testing.T) {
	dir := t.TempDir()
	s := openDir(t, dir)
	mustLocal(t, s)
	var cut []string
	s.Watch(func(name string) { cut = append(cut, name) })
	writeLocal(t, dir, "pal_other", 0o600)
	mustLocal(t, s)
	if !cmp.Equal(cut, []string{"local-agent"}) {
		t.Errorf("got %v cut, want local-agent", cut)
	}
}
