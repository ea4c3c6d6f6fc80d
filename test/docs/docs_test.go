// Package docs holds the pages that name tests to the tests there are.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

var (
	named  = regexp.MustCompile("`([a-z0-9]+)\\.((?:Test|Fuzz)[A-Za-z0-9_]+)`")
	define = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9_]+)\(`)
	story  = regexp.MustCompile("`([a-z_]+)`")
)

// tests are the tests of the tree, as folder and name.
func tests(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "node_modules" {
			return fs.SkipDir
		}
		if !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, m := range define.FindAllStringSubmatch(string(text), -1) {
			all[filepath.Base(filepath.Dir(file))+"."+m[1]] = true
		}
		return nil
	})
	if err != nil || len(all) < 500 {
		t.Fatalf("found %d tests: %v", len(all), err)
	}
	return all
}

// Whoever reads that a test shows something must find it.
func TestNamedTestsExist(t *testing.T) {
	all := tests(t)
	for _, page := range []string{"threat-model.md", "conformance.md"} {
		text, err := os.ReadFile(filepath.Join(root, "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		found := named.FindAllStringSubmatch(string(text), -1)
		if len(found) < 20 {
			t.Errorf("%s names %d tests, want at least 20", page, len(found))
		}
		for _, m := range found {
			if !all[m[1]+"."+m[2]] {
				t.Errorf("%s names %s.%s, which does not exist", page, m[1], m[2])
			}
		}
		for line := range strings.Lines(string(text)) {
			cells := strings.Split(line, "|")
			if len(cells) < 4 {
				continue
			}
			for _, m := range story.FindAllStringSubmatch(cells[len(cells)-2], -1) { // the last column
				if _, err := os.Stat(filepath.Join(root, "test", "script", "testdata", m[1]+".txtar")); err != nil && m[1] != "examples" && m[1] != "micropython" {
					t.Errorf("%s names the story %s, which does not exist", page, m[1])
				}
			}
		}
	}
}
