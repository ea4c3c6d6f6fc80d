package protocol

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

func document(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// section returns the document's text from one heading to the next of the same level.
func section(t *testing.T, heading string) string {
	t.Helper()
	_, text, ok := strings.Cut(document(t), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("docs/protocol.md has no section %s", heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// codes returns every constant of type Code in the source.
func codes(t *testing.T) []Code {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "errors.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var all []Code
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Code") {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, Code(text))
		return true
	})
	if len(all) < 20 {
		t.Fatalf("got %d codes from the source, want all", len(all))
	}
	return all
}

// Every code has one row with a meaning and an exit status, and the row says rightly whether it is retryable.
func TestDocumentedCodes(t *testing.T) {
	text := section(t, "Codes")
	known := codes(t)
	for _, code := range known {
		row := regexp.MustCompile("(?m)^\\| `" + string(code) + "` \\| [^|]{8,} \\| (yes )?\\| (\\d+) \\|$").FindStringSubmatch(text)
		if row == nil {
			t.Errorf("docs/protocol.md: got no row for the code %s with meaning and exit status", code)
			continue
		}
		if got := row[1] != ""; got != code.Retryable() {
			t.Errorf("docs/protocol.md: %s: got retryable %v, want %v", code, got, code.Retryable())
		}
	}
	if rows := strings.Count(text, "\n| `"); rows != len(known)+1 { // and the head
		t.Errorf("docs/protocol.md: got %d rows of codes, want %d", rows-1, len(known))
	}
}

// tagged returns the names of the JSON fields of a struct, those of its header left out.
func tagged(typ reflect.Type) []string {
	var names []string
	for f := range typ.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// requestBodies are the structs of the requests that the product has.
var requestBodies = map[string]any{
	TypeHello: Hello{}, TypeExec: Exec{}, TypeInterrupt: Target{}, TypeFetch: Target{}, TypeStatus: StatusQuery{}, TypePinRead: PinRead{},
	TypePinSet: PinSet{}, TypeSubscribe: Subscribe{}, TypeStop: Stop{}, TypeEstopClear: EstopClear{}, TypeReset: Reset{}, TypeBoard: Board{},
	TypeToken: Token{}, TypeConn: Conn{}, TypeSim: Sim{}, TypeTool: Tool{}, TypeWatch: Watch{}, TypeUnwatch: Watch{}, TypeFS: FS{},
	TypeRegister: Register{}, TypeTaskResult: TaskRef{}, TypeLease: Lease{}, TypeLeaseRelease: LeaseRelease{},
	TypeApproval: Approval{}, TypeAudit: Audit{}, TypeSafeMode: SafeMode{},
}

// Every type of request is in the document, those of the product in a row with all their fields.
func TestDocumentedRequests(t *testing.T) {
	text := section(t, "Requests")
	for _, typ := range slices.AppendSeq(slices.Clone(later), maps.Keys(bodies)) {
		if !strings.Contains(text, "`"+typ+"`") {
			t.Errorf("docs/protocol.md: got no request %s", typ)
		}
	}
	for typ, body := range requestBodies {
		row := regexp.MustCompile("(?m)^\\| `" + typ + "` \\|.*$").FindString(text)
		for _, field := range tagged(reflect.TypeOf(body)) {
			if !strings.Contains(row, "`"+field+"`") {
				t.Errorf("docs/protocol.md: request %s: got no field %s in %q", typ, field, row)
			}
		}
	}
}

// The examples in the document are messages that the codec takes, and answers that it gives.
func TestDocumentedExamples(t *testing.T) {
	blocks := strings.Split(document(t), "```\n→ ")[1:]
	if len(blocks) < 6 {
		t.Fatalf("docs/protocol.md: got %d examples of a request and its answer", len(blocks))
	}
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "\n```")
		request, answer, ok := strings.Cut(block, "\n← ")
		req, err := Decode([]byte(request))
		if !ok || err != nil {
			t.Errorf("%s: got %v", request, err)
			continue
		}
		into := map[string]any{
			TypeExec: new(Result), TypeRegister: new(TaskAnswer), TypeLease: new(Leases), TypeApproval: new(Approvals), TypeAudit: new(AuditAnswer),
			TypeSafeMode: new(SafeModeAnswer),
		}[req.Type]
		if err := json.Unmarshal([]byte(answer), into, strict); err != nil {
			t.Errorf("%s: got %v", answer, err)
			continue
		}
		if id := into.(Answer).Head().ID; id == nil || *id != *req.ID {
			t.Errorf("%s: got an answer to another request", answer)
		}
	}
}
