package identity

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// base returns a disk with two tokens, and the tokens.
func base(t *testing.T) (*memDisk, map[string]string) {
	t.Helper()
	d := newMemDisk()
	s := mustOpen(t, d)
	tokens := map[string]string{}
	for _, name := range []string{"ann", "bob"} {
		token, _, err := s.Create(name, Human, []Scope{Read}, false, 0)
		if err != nil {
			t.Fatal(err)
		}
		tokens[name] = token
	}
	return d, tokens
}

func mustOpen(t *testing.T, d disk) *Store {
	t.Helper()
	s, err := open(d, time.Now)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return s
}

func names(s *Store) []string {
	var all []string
	for _, i := range s.List() {
		all = append(all, i.Name)
	}
	return all
}

// changes are what a crash may interrupt.
var changes = []struct {
	name string
	do   func(s *Store) error
	want []string // names afterwards
}{
	{"create", func(s *Store) error {
		_, _, err := s.Create("eve", Agent, []Scope{Read}, false, 0)
		return err
	}, []string{"ann", "bob", "eve"}},
	{"revoke", func(s *Store) error { return s.Revoke("ann") }, []string{"bob"}},
}

// stepsOf counts the steps that a change takes when nothing fails.
func stepsOf(t *testing.T, do func(s *Store) error) int {
	t.Helper()
	d, _ := base(t)
	d = d.copy()
	if err := do(mustOpen(t, d)); err != nil {
		t.Fatal(err)
	}
	if d.steps < 6 {
		t.Fatalf("got %d steps of the disk, want at least create, write, sync, close, rename and folder sync", d.steps)
	}
	return d.steps
}

// A crash at any step leaves the tokens as they were before the change or as they are after it, and never takes back what
// was reported as done.
func TestCrashAtEveryStep(t *testing.T) {
	for _, change := range changes {
		steps := stepsOf(t, change.do)
		for fault := 1; fault <= steps+1; fault++ {
			for _, renamed := range []bool{false, true} {
				for _, half := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s-%d-%v-%v", change.name, fault, renamed, half), func(t *testing.T) {
						d, tokens := base(t)
						d = d.copy()
						d.fault, d.forever, d.half = fault, true, half
						err := change.do(mustOpen(t, d))
						if (err == nil) != (fault > steps) {
							t.Fatalf("got error %v with a fault at step %d of %d", err, fault, steps)
						}
						s := mustOpen(t, d.crash(renamed))
						got := names(s)
						if !cmp.Equal(got, change.want) && (err == nil || !cmp.Equal(got, []string{"ann", "bob"})) {
							t.Fatalf("got tokens %v after the crash (error %v), want %v or, when it was not done, ann and bob", got, err, change.want)
						}
						if _, _, ok := s.Lookup(tokens["bob"]); !ok {
							t.Error("got a token lost that had nothing to do with it")
						}
					})
				}
			}
		}
	}
}

// A disk that fails once leaves the store usable and true to what it said.
func TestFaultAtEveryStep(t *testing.T) {
	for _, change := range changes {
		for fault := 1; fault <= stepsOf(t, change.do); fault++ {
			t.Run(fmt.Sprintf("%s-%d", change.name, fault), func(t *testing.T) {
				d, tokens := base(t)
				d = d.copy()
				d.fault = fault
				s := mustOpen(t, d)
				var cut []string
				s.Watch(func(name string) { cut = append(cut, name) })
				if err := change.do(s); !errors.Is(err, errFault) {
					t.Fatalf("got error %v, want the fault", err)
				}
				_, _, annIn := s.Lookup(tokens["ann"])
				switch change.name {
				case "create":
					if got := names(s); !cmp.Equal(got, []string{"ann", "bob"}) || len(cut) != 0 {
						t.Errorf("got tokens %v, cut %v; want ann and bob, nobody cut", got, cut)
					}
				case "revoke":
					if annIn || !cmp.Equal(cut, []string{"ann"}) {
						t.Errorf("got ann valid %v, cut %v; want her out at once although the file was not written", annIn, cut)
					}
				}
				if err := change.do(s); err != nil {
					t.Fatalf("again, on a disk that works: got %v, want no error", err)
				}
				if got := names(mustOpen(t, d.crash(false))); !cmp.Equal(got, change.want) {
					t.Errorf("got tokens %v after a restart, want %v", got, change.want)
				}
			})
		}
	}
}

// The local tokens heal whatever step a crash hit.
func TestEnsureLocalAfterCrashAtEveryStep(t *testing.T) {
	whole := newMemDisk()
	if _, err := mustOpen(t, whole).EnsureLocal(); err != nil {
		t.Fatal(err)
	}
	for fault := 1; fault <= whole.steps; fault++ {
		for _, renamed := range []bool{false, true} {
			d := newMemDisk()
			d.fault, d.forever = fault, true
			if _, err := mustOpen(t, d).EnsureLocal(); !errors.Is(err, errFault) {
				t.Fatalf("fault at %d: got error %v, want the fault", fault, err)
			}
			after := d.crash(renamed)
			s := mustOpen(t, after)
			local, err := s.EnsureLocal()
			if err != nil {
				t.Fatalf("fault at %d: after the crash: %v", fault, err)
			}
			for name, token := range map[string]string{LocalHuman: local.Human, LocalAgent: local.Agent} {
				if actor, _, ok := s.Lookup(token); !ok || actor.Name != name {
					t.Errorf("fault at %d: got %v %v for the token of %s", fault, actor, ok, name)
				}
				if content, _, err := after.read(LocalFile(name), 0); err != nil || string(content) != token+"\n" {
					t.Errorf("fault at %d: got file %q, %v; want the token", fault, content, err)
				}
			}
		}
	}
}
