package mip

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// folder writes files, by their slash-separated names, into a new folder.
func folder(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for f, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func dests(p *Package) []string {
	var list []string
	for _, f := range p.Files {
		list = append(list, f.Dest)
	}
	return list
}

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		files   map[string]string
		dests   []string
		needs   []string
		version string
	}{
		"package.json": {
			map[string]string{
				"package.json": `{"urls": [["drv/__init__.py", "src/drv.py"], ["drv/x.py", "x.py"]], "deps": [["other", "latest"]], "version": "1.2"}`,
				"src/drv.py":   "a", "x.py": "b", "not_listed.py": "c",
			},
			[]string{"drv/__init__.py", "drv/x.py"}, []string{"other"}, "1.2",
		},
		"manifest.py": {
			map[string]string{
				"manifest.py": "metadata(description=\"d\", version=\"0.3\")\nrequire(\"base\")\nmodule('one.py')\npackage(\"two\")\n",
				"one.py":      "", "two/__init__.py": "", "two/sub/__init__.py": "", "two/readme.txt": "", "two/tests/t.py": "",
			},
			[]string{"one.py", "two/__init__.py", "two/sub/__init__.py"}, []string{"base"}, "0.3",
		},
		"a package": {
			map[string]string{"__init__.py": "", "sub/__init__.py": "", ".git/x.py": ""},
			[]string{"pkg/__init__.py", "pkg/sub/__init__.py"}, nil, "",
		},
		"modules": {
			map[string]string{"a.py": "", "setup.py": "", "b/__init__.py": "", "examples/e.py": "", "unicode_ä.py": ""},
			[]string{"a.py", "b/__init__.py", "unicode_ä.py"}, nil, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Read(folder(t, "pkg", c.files))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.dests, dests(p)); d != "" {
				t.Errorf("files (-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.needs, p.Needs); d != "" {
				t.Errorf("needs (-want +got):\n%s", d)
			}
			if p.Version != c.version || p.Name != "pkg" {
				t.Errorf("got %s %q, want pkg %q", p.Name, p.Version, c.version)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"nothing":          {map[string]string{"readme.md": ""}, "nothing to install"},
		"out by dest":      {map[string]string{"package.json": `{"urls": [["../boot.py", "x.py"]]}`, "x.py": ""}, "no place"},
		"absolute dest":    {map[string]string{"package.json": `{"urls": [["/boot.py", "x.py"]]}`, "x.py": ""}, "no place"},
		"unclean dest":     {map[string]string{"package.json": `{"urls": [["a/../b.py", "x.py"]]}`, "x.py": ""}, "no place"},
		"out by source":    {map[string]string{"package.json": `{"urls": [["x.py", "../secret.py"]]}`}, "escapes"},
		"on a server":      {map[string]string{"package.json": `{"urls": [["x.py", "github:org/repo/x.py"]]}`}, "server"},
		"by hash":          {map[string]string{"package.json": `{"hashes": [["x.py", "abc"]]}`}, "server"},
		"bytecode":         {map[string]string{"package.json": `{"urls": [["x.mpy", "x.mpy"]]}`, "x.mpy": ""}, ".mpy"},
		"no json":          {map[string]string{"package.json": "{"}, "package.json"},
		"missing source":   {map[string]string{"package.json": `{"urls": [["x.py", "x.py"]]}`}, "x.py"},
		"too large a file": {map[string]string{"x.py": strings.Repeat("#", 1<<20+1)}, "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(folder(t, "pkg", c.files))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one that says %q", err, c.want)
			}
		})
	}
}

// A link that leads out of the folder is not followed.
func TestLinkOut(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.py")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := folder(t, "pkg", map[string]string{"a.py": ""})
	if err := os.Symlink(outside, filepath.Join(dir, "b.py")); err != nil {
		t.Fatal(err)
	}
	if p, err := Read(dir); err == nil {
		t.Errorf("got %v, want an error", dests(p))
	}
}
