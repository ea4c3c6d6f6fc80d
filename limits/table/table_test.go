package table

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite docs/limits.md")

// source parses the files of a pattern, tests left out.
func source(t *testing.T, pattern string) map[string]*ast.File {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*ast.File{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files[path] = f
	}
	return files
}

// constants returns the names of the exported constants, in no order.
func constants(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, f := range source(t, filepath.Join("..", "*.go")) {
		for _, decl := range f.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.CONST {
				continue
			}
			for _, spec := range gen.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					if name.IsExported() {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}

// Every constant has exactly one row, and every row is of a constant.
func TestTableIsComplete(t *testing.T) {
	want := constants(t)
	if len(want) < 50 {
		t.Fatalf("got %d constants from the source, want the bounds of the product", len(want))
	}
	var got []string
	for _, b := range All() {
		got = append(got, b.Name)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("constants -, rows of the table +:\n%s", diff)
	}
}

// A row's value comes from the constant that the row names: nobody retypes a number.
func TestValuesComeFromTheConstants(t *testing.T) {
	rows := 0
	for path, f := range source(t, "*.go") {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			maker, ok := call.Fun.(*ast.Ident)
			if !ok || !slices.Contains([]string{"count", "size", "span"}, maker.Name) {
				return true
			}
			rows++
			name, isText := call.Args[0].(*ast.BasicLit)
			value, isName := call.Args[1].(*ast.SelectorExpr)
			if !isText || !isName || name.Value != strconv.Quote(value.Sel.Name) {
				t.Errorf("%s: row %v: got a name and a value that are not of the same constant", path, call.Args[0])
			}
			return true
		})
	}
	if rows != len(All()) {
		t.Errorf("got %d rows in the source, want %d as in All", rows, len(All()))
	}
}

func TestRowsAreWhole(t *testing.T) {
	for _, b := range All() {
		for field, text := range map[string]string{"group": b.Group, "value": b.Value, "unit": b.Unit, "reason": b.Reason, "past": b.Past} {
			if text == "" || strings.ContainsAny(text, "|\n") {
				t.Errorf("%s: got %s %q, want text that fits a table", b.Name, field, text)
			}
		}
	}
}

func TestRendering(t *testing.T) {
	tests := []struct {
		got  Bound
		want string
	}{
		{size("", 1, "", ""), "1 B"}, {size("", 1023, "", ""), "1023 B"}, {size("", 64<<10, "", ""), "64 KiB"},
		{size("", 1536, "", ""), "1536 B"}, {size("", 8<<20, "", ""), "8 MiB"}, {size("", 1<<30, "", ""), "1024 MiB"},
		{span("", 10*time.Millisecond, "", ""), "10 ms"}, {span("", 1500*time.Millisecond, "", ""), "1500 ms"},
		{span("", 30*time.Second, "", ""), "30 s"}, {span("", 90*time.Second, "", ""), "90 s"},
		{span("", 10*time.Minute, "", ""), "10 min"}, {span("", 24*time.Hour, "", ""), "24 h"},
		{count("", 65_536, "ids", "", ""), "65536 ids"},
	}
	for _, tt := range tests {
		if got := tt.got.Value + " " + tt.got.Unit; got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

// document renders docs/limits.md.
func document() string {
	var b strings.Builder
	b.WriteString("# Limits\n\nGenerated from package limits by `go generate ./limits/table`. Do not edit.\n\n" +
		"Every bound of PAL, with its reason and what happens past it. A bound that a board file or a setting can change says so.\n")
	group := ""
	for _, row := range All() {
		if row.Group != group {
			group = row.Group
			fmt.Fprintf(&b, "\n## %s\n\n| bound | value | why | past it |\n| --- | --- | --- | --- |\n", group)
		}
		fmt.Fprintf(&b, "| `%s` | %s %s | %s | %s |\n", row.Name, row.Value, row.Unit, row.Reason, row.Past)
	}
	return b.String()
}

// The document in the tree is the one that the table gives.
func TestDocument(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "limits.md")
	want := document()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/limits.md is stale, run `go generate ./limits/table`: table -, file +:\n%s", diff)
	}
}
