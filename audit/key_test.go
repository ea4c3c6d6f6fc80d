package audit

import (
	"slices"
	"strings"
	"testing"

	"github.com/pal-terminal/pal/store"
	"github.com/pal-terminal/pal/store/crash"
)

// Keys that cannot be used, or that do not belong together, are told of once, their bytes are kept, and the log goes on with others.
func TestDamagedKeys(t *testing.T) {
	for name, damage := range map[string]func(d store.Disk) error{
		"key":      func(d store.Disk) error { return store.Replace(d, "audit/"+keyFile, []byte("PRIVATE+KEY+broken")) },
		"public":   func(d store.Disk) error { return store.Replace(d, "audit/"+publicFile, []byte("\x00\x00")) },
		"no key":   func(d store.Disk) error { return d.Remove("audit/" + keyFile) },
		"not list": func(d store.Disk) error { return d.Remove("audit/" + publicFile) },
	} {
		t.Run(name, func(t *testing.T) {
			var d store.Disk = crash.New(1)
			var told []string
			open := func() *Log {
				told = nil
				l, _, err := Open(d, "audit", Options{Terminal: "t", Damaged: func(problem string) { told = append(told, problem) }})
				if err != nil {
					t.Fatal(err)
				}
				return l
			}
			first := open()
			fill(t, first, 0, 3)
			if err := first.Close(); err != nil || len(told) != 0 {
				t.Fatalf("the first start: got %v, told %q", err, told)
			}
			if err := damage(d); err != nil {
				t.Fatal(err)
			}
			l := open()
			if len(told) != 1 || !strings.Contains(told[0], "signing key") || l.Key() == first.Key() {
				t.Errorf("told %q, the key is another: %v", told, l.Key() != first.Key())
			}
			fill(t, l, 3, 5)
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			kept, err := d.List(quarantine)
			if err != nil || len(kept) == 0 || !slices.ContainsFunc(kept, func(k string) bool { return strings.Contains(k, "audit.") }) {
				t.Errorf("quarantine: got %v, %v", kept, err)
			}
			again := open()
			if len(told) != 0 || again.Key() != l.Key() {
				t.Errorf("the start after it: told %q", told)
			}
			if err := again.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
