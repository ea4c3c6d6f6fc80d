package audits

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pal-terminal/pal/audit"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/store"
)

// An entry for people is one line, whatever an agent called itself.
func TestPrintEntries(t *testing.T) {
	var out strings.Builder
	a := &cli.App{Stdout: &out}
	last, err := printEntries(a, []jsontext.Value{
		jsontext.Value(`{"seq":7,"time_ms":0,"kind":"intent","type":"exec","actor":"a\u001b[2J\n","trace":"t_1"}`),
		jsontext.Value(`{"seq":8,"time_ms":0,"kind":"event"}`),
	}, 0)
	if err != nil || last != 8 || strings.Count(out.String(), "\n") != 2 || strings.Contains(out.String(), "\x1b") {
		t.Errorf("got %d, %v, %q", last, err, out.String())
	}
	if _, err := printEntries(a, []jsontext.Value{jsontext.Value(`[]`)}, 0); err == nil {
		t.Error("an entry that is no object was taken")
	}
}

// The files of a terminal that does not run: whole, with another key than the one to believe, and with a byte changed.
func TestVerifyFiles(t *testing.T) {
	dir := t.TempDir()
	disk, err := store.Folder(dir)
	if err != nil {
		t.Fatal(err)
	}
	log, _, err := audit.Open(disk, "audit", audit.Options{Terminal: "t"})
	if err != nil {
		t.Fatal(err)
	}
	log.Lazy(audit.Entry{Kind: audit.KindEvent, Type: "water"})
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	verify := func(key string) (int, string) {
		var out strings.Builder
		f := &found{}
		err := f.files(t.Context(), dir, key, nil)
		if err == nil {
			err = f.print(&cli.App{Stdout: &out})
		}
		return cli.ExitCode(err), out.String() + cli.OneLine(err)
	}
	if code, text := verify(""); code != cli.ExitOK || !strings.Contains(text, "entries verified, 1 to") {
		t.Errorf("whole: got %d, %s", code, text)
	}
	if code, text := verify("pal/t+00000000+AAAA"); code != cli.ExitFailed {
		t.Errorf("a key that is none: got %d, %s", code, text)
	}
	names, err := filepath.Glob(filepath.Join(dir, "audit", "0*"))
	if err != nil || len(names) != 1 {
		t.Fatalf("got %v, %v", names, err)
	}
	data, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	data = []byte(strings.Replace(string(data), "water", "Water", 1))
	if err := os.WriteFile(names[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, text := verify(""); code != cli.ExitFailed || !strings.Contains(text, "wrong from entry 3 on") {
		t.Errorf("a byte changed: got %d, %s", code, text)
	}
}
