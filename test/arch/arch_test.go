// Package arch holds the code to ARCHITECTURE.md: its import table and its size budgets.
package arch

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	module   = "github.com/pal-terminal/pal"
	root     = "../.."
	anything = "anything"

	fileLines     = 500
	functionLines = 60
	packageLines  = 2_500
	guardLines    = 8_760
	pageLines     = 300
)

// guard lists the packages that one person must be able to review in a day.
var guard = []string{"limits", "protocol", "hw", "board", "pin", "core", "vm", "vm/frame"}

// own are the budgets of packages that are reviewed with the guard and counted apart: they move no output but through pin.
var own = map[string]int{"bus": 1_500, "board/load": 880, "identity": 700, "events": 250, "answers": 200, "files": 200, "store": 600, "task": 2_000, "toolset": 200, "watch": 300, "lease": 315, "approval": 260,
	"audit": 1_380, "ledger": 220, "durable": 170, "latch": 110, "conns": 290, "desk": 440, "rights": 110, "notices": 70, "printed": 60, "sessions": 60,
	"supervise/notify": 370, "supervise/network": 200, "supervise/niceties": 190, "supervise/start": 90}

// row is one line of the import table.
type row struct {
	allowed []string
	any     bool
}

// table reads the section "Imports" of ARCHITECTURE.md.
func table(t *testing.T) map[string]row {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(page, []byte("\n")); n > pageLines {
		t.Errorf("ARCHITECTURE.md: got %d lines, want at most %d", n, pageLines)
	}
	_, section, ok := strings.Cut(string(page), "## Imports")
	if !ok {
		t.Fatal("ARCHITECTURE.md has no section Imports")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	names := regexp.MustCompile("`([a-z0-9/*]+)`")
	rows := map[string]row{}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.Contains(cells[1], "`") {
			continue
		}
		name := names.FindStringSubmatch(cells[1])[1]
		r := row{any: strings.Contains(cells[2], anything)}
		for _, m := range names.FindAllStringSubmatch(cells[2], -1) {
			r.allowed = append(r.allowed, m[1])
		}
		rows[name] = r
	}
	if len(rows) < 10 {
		t.Fatalf("got %d rows in the import table; the reader or the table is broken", len(rows))
	}
	return rows
}

// find returns the row that governs a package: its own, or the one of its family.
func find(rows map[string]row, pkg string) (row, bool) {
	if r, ok := rows[pkg]; ok {
		return r, true
	}
	for dir := path.Dir(pkg); dir != "."; dir = path.Dir(dir) {
		if r, ok := rows[dir+"/*"]; ok {
			return r, true
		}
	}
	return row{}, false
}

func (r row) allows(pkg string) bool {
	if r.any {
		return true
	}
	for _, a := range r.allowed {
		if a == pkg || strings.HasSuffix(a, "/*") && strings.HasPrefix(pkg, strings.TrimSuffix(a, "*")) {
			return true
		}
	}
	return false
}

func TestImportTable(t *testing.T) {
	rows := table(t)
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	seen := 0
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		pkg, ok := strings.CutPrefix(fields[0], module+"/")
		if !ok {
			continue
		}
		seen++
		r, ok := find(rows, pkg)
		if !ok {
			t.Errorf("package %s has no row in the import table of ARCHITECTURE.md", pkg)
			continue
		}
		for _, imp := range fields[1:] {
			if ours, ok := strings.CutPrefix(imp, module+"/"); ok && !r.allows(ours) {
				t.Errorf("package %s imports %s, which its row does not allow", pkg, ours)
			}
		}
	}
	if seen < 10 {
		t.Fatalf("go list named %d packages of ours; the test looks in the wrong place", seen)
	}
}

// TestSizes counts a file's and a function's lines as an editor shows them, and a package's as lines of code: comments help
// whoever reviews and cost nothing. Tests are free but for the length of a file.
func TestSizes(t *testing.T) {
	packages := map[string]int{}
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && d.Name() != ".." && len(d.Name()) > 1) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		src, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if n := bytes.Count(src, []byte("\n")); n > fileLines {
			t.Errorf("%s: got %d lines, want at most %d", file, n, fileLines)
		} else if !strings.HasSuffix(file, "_test.go") {
			rel, err := filepath.Rel(root, filepath.Dir(file))
			if err != nil {
				return err
			}
			packages[filepath.ToSlash(rel)] += codeLines(src)
			f, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			checkFunctions(t, fset, f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for pkg, n := range packages {
		if n > packageLines {
			t.Errorf("package %s: got %d lines of code, want at most %d", pkg, n, packageLines)
		}
	}
	for pkg, most := range own {
		if n := packages[pkg]; n == 0 || n > most {
			t.Errorf("package %s: got %d lines of code, want at most %d", pkg, n, most)
		}
	}
	for _, pkg := range guard {
		if packages[pkg] == 0 {
			t.Errorf("guard package %s was not found", pkg)
		}
		sum += packages[pkg]
	}
	if sum > guardLines {
		t.Errorf("guard packages: got %d lines of code together, want at most %d", sum, guardLines)
	}
	t.Logf("guard packages: %d of %d lines of code", sum, guardLines)
}

// codeLines counts the lines that are neither blank nor a comment alone.
func codeLines(src []byte) int {
	n := 0
	for line := range bytes.Lines(src) {
		if line = bytes.TrimSpace(line); len(line) > 0 && !bytes.HasPrefix(line, []byte("//")) {
			n++
		}
	}
	return n
}

func checkFunctions(t *testing.T, fset *token.FileSet, f *ast.File) {
	t.Helper()
	for _, decl := range f.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		from, to := fset.Position(fn.Pos()), fset.Position(fn.End())
		if n := to.Line - from.Line + 1; n > functionLines {
			t.Errorf("%s:%d: function %s: got %d lines, want at most %d", from.Filename, from.Line, fn.Name.Name, n, functionLines)
		}
	}
}

// TestPackageComments wants one package comment for each package that is not a test alone.
func TestPackageComments(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}}|{{.Doc}}|{{len .GoFiles}}`, "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		if len(fields) >= 3 && fields[1] == "" && fields[len(fields)-1] != "0" {
			t.Errorf("package %s has no package comment", fields[0])
		}
	}
}
