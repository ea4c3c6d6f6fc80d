package mip

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestResolve(t *testing.T) {
	around := t.TempDir()
	for name, text := range map[string]string{
		"app/manifest.py":  "module(\"app.py\")\nrequire(\"base\")\nrequire(\"onboard\")\n",
		"app/app.py":       "import base",
		"base/manifest.py": "module(\"base.py\")\nrequire(\"app\")\n", // a ring
		"base/base.py":     "X = 1",
		"lost/manifest.py": "module(\"lost.py\")\nrequire(\"base\")\nrequire(\"nowhere\")\nrequire(\"../base\")\n",
		"lost/lost.py":     "",
		"clash/base.py":    "X = 2",
		"twin/base.py":     "X = 1",
	} {
		file := filepath.Join(around, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ folders, want string }{
		{"app", "app base"},
		{"base app base", "base app"},
		{"twin base", "twin base app"},
		{"lost", "error: needed and not there: nowhere, ../base: "},
		{"base clash", "error: base and clash both have a file base.py"},
		{"none", "error: none"},
	} {
		var folders []string
		for _, f := range strings.Fields(c.folders) {
			folders = append(folders, filepath.Join(around, f))
		}
		list, err := Resolve(folders, func(need string) (bool, error) { return need == "onboard", nil })
		if want, wrong := strings.CutPrefix(c.want, "error: "); wrong {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q", c.folders, err, want)
			}
			continue
		}
		var names []string
		for _, p := range list {
			names = append(names, p.Name)
		}
		if got := strings.Join(names, " "); err != nil || got != c.want {
			t.Errorf("%s: got %s, %v, want %s", c.folders, got, err, c.want)
		}
	}
	unreachable := errors.New("unreachable")
	if _, err := Resolve([]string{filepath.Join(around, "app")}, func(string) (bool, error) { return false, unreachable }); !errors.Is(err, unreachable) {
		t.Errorf("got %v, want %v", err, unreachable)
	}
}
