//go:build unix

package repl

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// person sits at a terminal: types, and waits until something is on the screen.
type person struct {
	t    *testing.T
	tty  *os.File
	seen chan []byte
	all  bytes.Buffer
	at   int // up to where wait has looked
}

func sitDown(t *testing.T, tty *os.File) *person {
	p := &person{t: t, tty: tty, seen: make(chan []byte, 1024)}
	go func() {
		defer close(p.seen)
		for {
			buf := make([]byte, 1024)
			n, err := tty.Read(buf)
			if err != nil {
				return
			}
			p.seen <- buf[:n]
		}
	}()
	return p
}

func (p *person) typed(keys string) {
	p.t.Helper()
	if _, err := io.WriteString(p.tty, keys); err != nil {
		p.t.Fatalf("type %q: %v", keys, err)
	}
}

// wait returns when want is on the screen, after what was waited for before.
func (p *person) wait(want string) {
	p.t.Helper()
	late := time.NewTimer(20 * time.Second)
	defer late.Stop()
	for {
		if i := bytes.Index(p.all.Bytes()[p.at:], []byte(want)); i >= 0 {
			p.at += i + len(want)
			return
		}
		select {
		case b, ok := <-p.seen:
			if !ok {
				p.t.Fatalf("the screen ended before %q: %q", want, p.all.String()[p.at:])
			}
			p.all.Write(b)
		case <-late.C:
			p.t.Fatalf("no %q on the screen: %q", want, p.all.String()[p.at:])
		}
	}
}

// start runs a prompt on a pseudo terminal. Its machine echoes statements, loops at "loop" until interrupted, and says what
// interrupted it.
func start(t *testing.T, history string) (p *person, ended <-chan error) {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(slave, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	run := func(ctx context.Context, code string, out io.Writer) error {
		if code == "loop" {
			fmt.Fprintln(out, "looping")
			<-ctx.Done()
			fmt.Fprintln(out, "KeyboardInterrupt")
			return nil
		}
		fmt.Fprintf(out, "ran %q\n", code)
		return nil
	}
	done := make(chan error, 1)
	var prompt sync.WaitGroup
	prompt.Go(func() {
		done <- Interactive(t.Context(), Screen{Keys: slave, Display: slave, History: history}, run)
	})
	t.Cleanup(func() {
		prompt.Wait()
		slave.Close()
		master.Close()
	})
	return sitDown(t, master), done
}

func (p *person) leaves(ended <-chan error, key string) {
	p.t.Helper()
	p.typed(key)
	select {
	case err := <-ended:
		if err != nil {
			p.t.Errorf("Interactive: %v", err)
		}
	case <-time.After(20 * time.Second):
		p.t.Error("the prompt did not end")
	}
}

func TestPrompt(t *testing.T) {
	p, ended := start(t, "")
	p.wait(">>> ")
	p.typed("a = 1\r")
	p.wait(`ran "a = 1"` + "\r\n>>> ")
	p.typed("for i in x:\r")
	p.wait("... ")
	p.typed("\tprint(i)\r")
	p.wait("... ")
	p.typed("\r")
	p.wait(`ran "for i in x:\n    print(i)\n"`)
	p.wait(">>> ")
	p.leaves(ended, "\x1d")
}

func TestCtrlCClearsTheLine(t *testing.T) {
	p, ended := start(t, "")
	p.wait(">>> ")
	p.typed("half a li")
	p.wait("half a li")
	p.typed("\x03b\r")
	p.wait(`ran "b"`)
	p.wait(">>> ")
	p.typed("def f():\r")
	p.wait("... ")
	p.typed("  half\x03")
	p.wait(">>> ")
	p.typed("c\r")
	p.wait(`ran "c"`)
	p.wait(">>> ")
	p.leaves(ended, "\x04")
}

func TestCtrlCInterruptsWhatRuns(t *testing.T) {
	p, ended := start(t, "")
	p.wait(">>> ")
	p.typed("loop\r")
	p.wait("looping")
	p.typed("typed ahead\r\x03")
	p.wait("KeyboardInterrupt\r\n>>> ")
	p.typed("a\r")
	p.wait(`ran "a"`) // what was typed ahead went with the interrupt
	p.typed("loop\r")
	p.wait("looping")
	p.leaves(ended, "\x1d")
}

func TestTypeAhead(t *testing.T) {
	p, ended := start(t, "")
	p.wait(">>> ")
	p.typed("a\rb\rc\r")
	for _, code := range []string{"a", "b", "c"} {
		p.wait(fmt.Sprintf("ran %q", code))
	}
	p.wait(">>> ")
	p.leaves(ended, "\x04")
}

func TestPaste(t *testing.T) {
	p, ended := start(t, "")
	p.wait(">>> ")
	p.typed("\x1b[200~x = 1\rdef f():\r    a\r\r    b\rf()\r\x1b[201~")
	p.wait(`ran "x = 1"`)
	p.wait(`ran "def f():\n    a\n\n    b\n"`)
	p.wait(`ran "f()"`)
	p.wait(">>> ")
	p.leaves(ended, "\x04")
}

func TestHistoryOverTwoSessions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	p, ended := start(t, file)
	p.wait(">>> ")
	p.typed("first\r")
	p.wait(`ran "first"`)
	p.wait(">>> ")
	p.typed("second\r")
	p.wait(`ran "second"`)
	p.wait(">>> ")
	p.leaves(ended, "\x04")

	p, ended = start(t, file)
	p.wait(">>> ")
	p.typed("\x1b[A\x1b[A\r") // up, up
	p.wait(`ran "first"`)
	p.wait(">>> ")
	p.leaves(ended, "\x04")
}

// A prompt must give the terminal back as it was.
func TestTerminalIsRestored(t *testing.T) {
	p, ended := start(t, "")
	p.wait(">>> ")
	p.leaves(ended, "\x04")
	p.typed("echo me")
	p.wait("echo me") // a raw terminal would not
	if strings.Count(p.all.String(), "\x1b[?2004h") != strings.Count(p.all.String(), "\x1b[?2004l") {
		t.Error("bracketed paste was left on")
	}
}
