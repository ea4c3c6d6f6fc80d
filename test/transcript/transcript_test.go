//go:build unix

// Package transcript replays golden conversations with a whole terminal. They are the protocol's teeth: what a client of
// another make may rely on.
//
// # Format
//
// A file is a txtar archive: prose that says why it exists, then optional files board.yaml and board.py, then the section
// conversation with lines
//
//	open b agent            connection b, with the token of the local agent ("human" for the local human)
//	open c NAME agent exec  connection c, with a fresh token of that name, class and scopes (commas; "+ask" marks ask)
//	> {"id":"1",…}          what connection a sends (a is open as agent from the start); "b> …" for b
//	< {"id":"1",…}          the next message that connection must get; "b< …" for b
//	sim press BUTTON        something that happens to the simulated board
//	close b                 the client leaves
//
// Times, traces and other values that differ from run to run stand as "*". Run with -update to write what the terminal says.
package transcript

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/test/terminal"
	"github.com/pal-terminal/pal/transport"
)

var update = flag.Bool("update", false, "write what the terminal says into the transcripts")

// patience bounds the wait for a message that never comes.
const patience = 20 * time.Second

func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 10 {
		t.Fatalf("got %d transcripts, want at least 10", len(files))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name+"/pipe", func(t *testing.T) {
			replay(t, file, func(x *terminal.Terminal, token string) transport.Conn { return x.Pipe(token) })
		})
		t.Run(name+"/websocket", func(t *testing.T) {
			replay(t, file, func(x *terminal.Terminal, token string) transport.Conn { return x.Dial(token) })
		})
	}
}

// player is one replay.
type player struct {
	t     *testing.T
	x     *terminal.Terminal
	dial  func(*terminal.Terminal, string) transport.Conn
	conns map[string]transport.Conn
}

func replay(t *testing.T, file string, dial func(*terminal.Terminal, string) transport.Conn) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	section := find(archive, "conversation")
	if section == nil {
		t.Fatal("no section conversation")
	}
	p := &player{t: t, x: terminal.Start(t, description(t, archive)), dial: dial, conns: map[string]transport.Conn{}}
	p.conns["a"] = dial(p.x, p.x.Agent)
	var said strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(string(section.Data), "\n"), "\n") {
		said.WriteString(p.step(i+1, line) + "\n")
	}
	for name, conn := range p.conns {
		p.quiet(name, conn)
	}
	if *update && !t.Failed() {
		section.Data = []byte(said.String())
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func find(a *txtar.Archive, name string) *txtar.File {
	for i := range a.Files {
		if a.Files[i].Name == name {
			return &a.Files[i]
		}
	}
	return nil
}

// description is the transcript's own board, or nil for bench-sim.
func description(t *testing.T, a *txtar.Archive) *board.Description {
	t.Helper()
	yaml := find(a, "board.yaml")
	if yaml == nil {
		return nil
	}
	var source []byte
	if py := find(a, "board.py"); py != nil {
		source = py.Data
	}
	d, err := load.Bytes("board.yaml", yaml.Data, source)
	if err != nil {
		t.Fatalf("board: %v", err)
	}
	return d
}

// step plays one line and returns it as it should stand.
func (p *player) step(n int, line string) string {
	p.t.Helper()
	if name, message, ok := cut(line, "> "); ok {
		ctx, done := context.WithTimeout(p.t.Context(), patience)
		defer done()
		if err := p.conn(n, name).Write(ctx, []byte(message)); err != nil {
			p.t.Fatalf("line %d: send: %v", n, err)
		}
		return line
	}
	if name, want, ok := cut(line, "< "); ok {
		got := p.next(n, name)
		if got != want && !*update {
			p.t.Errorf("line %d:\n got %s\nwant %s", n, got, want)
		}
		return strings.TrimSuffix(line, want) + got
	}
	words := strings.Fields(line)
	switch {
	case len(words) == 0 || strings.HasPrefix(line, "#"):
	case words[0] == "open" && len(words) >= 3:
		p.conns[words[1]] = p.dial(p.x, p.token(n, words[2:]))
	case words[0] == "close" && len(words) == 2:
		if err := p.conn(n, words[1]).Close("done"); err != nil {
			p.t.Fatalf("line %d: close: %v", n, err)
		}
		delete(p.conns, words[1])
	case words[0] == "sim" && len(words) >= 3:
		if _, err := p.x.Sim.Sim(words[1], words[2], strings.Join(words[3:], " ")); err != nil {
			p.t.Fatalf("line %d: %v", n, err)
		}
	default:
		p.t.Fatalf("line %d: %q is no step", n, line)
	}
	return line
}

// cut splits "b> text" into connection and text; the connection is a when none is named.
func cut(line, mark string) (name, text string, ok bool) {
	name, text, ok = strings.Cut(line, mark)
	if !ok || len(name) > 1 {
		return "", "", false
	}
	if name == "" {
		name = "a"
	}
	return name, text, true
}

func (p *player) conn(n int, name string) transport.Conn {
	p.t.Helper()
	c := p.conns[name]
	if c == nil {
		p.t.Fatalf("line %d: connection %s is not open", n, name)
	}
	return c
}

func (p *player) token(n int, words []string) string {
	p.t.Helper()
	switch {
	case words[0] == "human":
		return p.x.Human
	case words[0] == "agent":
		return p.x.Agent
	case len(words) < 3:
		p.t.Fatalf("line %d: open needs name, class and scopes", n)
	}
	var scopes []identity.Scope
	list, ask := strings.CutSuffix(words[2], "+ask")
	for _, s := range strings.Split(list, ",") {
		scopes = append(scopes, identity.Scope(s))
	}
	token, _, err := p.x.Identity.Create(words[0], identity.Class(words[1]), scopes, ask, 0)
	if err != nil {
		p.t.Fatalf("line %d: %v", n, err)
	}
	return token
}

func (p *player) next(n int, name string) string {
	p.t.Helper()
	ctx, done := context.WithTimeout(p.t.Context(), patience)
	defer done()
	m, err := p.conn(n, name).Read(ctx)
	if err != nil {
		p.t.Fatalf("line %d: connection %s: no message came: %v", n, name, err)
	}
	return steady(string(m))
}

// quiet checks that nothing was said that the transcript does not show: the answer to a ping must be the next message.
func (p *player) quiet(name string, conn transport.Conn) {
	p.t.Helper()
	ctx, done := context.WithTimeout(p.t.Context(), patience)
	defer done()
	if err := conn.Write(ctx, []byte(`{"id":"the end","type":"ping"}`)); err != nil {
		p.t.Errorf("connection %s at the end: %v", name, err)
		return
	}
	m, err := conn.Read(ctx)
	if want := `{"version":"1","id":"the end","type":"pong"}`; err != nil || string(m) != want {
		p.t.Errorf("connection %s at the end: got %s (%v), want nothing but the pong", name, m, err)
	}
}

// volatile are the values that differ from run to run.
var volatile = regexp.MustCompile(`"(exec_time_ms|at_us|trace|fuel|timestamp_ms|boot_id|since_ms|uptime_ms|rss_bytes|took_us|created_ms|token|sha256|conn|audit_head|approval_id)":("[^"]*"|-?[0-9]+)`)

// approve is the id of an approval in a message for people.
var approve = regexp.MustCompile(`pal approve [a-z0-9]+`)

func steady(message string) string {
	return approve.ReplaceAllString(volatile.ReplaceAllString(message, `"$1":"*"`), "pal approve *")
}
