//go:build unix

package e2e

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/creack/pty"
)

// person sits at a terminal: types, and waits until something is on the screen.
type person struct {
	t    *testing.T
	tty  *os.File
	cmd  *exec.Cmd
	seen chan []byte
	all  bytes.Buffer
	at   int // up to where wait has looked
}

// sitDown starts the prompt on a pseudo terminal.
func (u *up) sitDown(t *testing.T) *person {
	t.Helper()
	cmd := exec.Command(u.bin, "repl", "--state", u.state)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 100})
	if err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, tty: tty, cmd: cmd, seen: make(chan []byte, 1024)}
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
	t.Cleanup(func() {
		tty.Close()
		cmd.Process.Kill() // it has ended when the test went well
		for range p.seen { // until the reader has ended
		}
	})
	return p
}

func (p *person) types(keys string) {
	p.t.Helper()
	if _, err := io.WriteString(p.tty, keys); err != nil {
		p.t.Fatalf("type %q: %v", keys, err)
	}
}

// waits returns when want is on the screen, after what was waited for before.
func (p *person) waits(want string) {
	p.t.Helper()
	late := time.NewTimer(patience)
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

// leaves types the key and expects the prompt to end well.
func (p *person) leaves(key string) {
	p.t.Helper()
	p.types(key)
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			p.t.Errorf("pal repl: %v", err)
		}
	case <-time.After(patience):
		p.t.Fatal("pal repl does not end")
	}
}

func TestPromptOnATerminal(t *testing.T) {
	u := start(t)
	p := u.sitDown(t)
	p.waits(">>> ")
	p.types("a = 20 + 1\ra * 2\r")
	p.waits("42\r\n>>> ")

	// A block, with output as it comes.
	p.types("import time\rfor i in range(3):\r")
	p.waits("... ")
	p.types("    print('turn', i); time.sleep_ms(20)\r\r")
	p.waits("turn 0\r\n")
	p.waits("turn 2\r\n>>> ")

	// An error shows and the prompt goes on.
	p.types("1/0\r")
	p.waits("ZeroDivisionError")
	p.waits(">>> ")

	// Ctrl-C in a loop, while it prints.
	p.types("while True: print('spin'); time.sleep_ms(5)\r")
	p.waits("spin\r\nspin\r\n")
	p.types("\x03")
	p.waits("KeyboardInterrupt")
	p.waits(">>> ")

	// Ctrl-C at the prompt clears the line.
	p.types("this is no python\x03")
	p.waits(">>> ")

	// Up-arrow, twice, is the statement before the last; names have survived.
	p.types("a\r")
	p.waits("21\r\n>>> ")
	p.types("\x1b[A\x1b[A\x03")
	p.waits(">>> ")
	p.types("\x1b[A\r")
	p.waits("21\r\n>>> ")

	// A paste, with an empty line inside a function.
	p.types("\x1b[200~def f():\r    x = 5\r\r    return x + 1\rf()\r\x1b[201~")
	p.waits("6\r\n>>> ")
	p.leaves("\x1d")

	// The next one knows what was typed, and the session what was done.
	p = u.sitDown(t)
	p.waits(">>> ")
	p.types("\x1b[A\r") // f()
	p.waits("6\r\n>>> ")
	p.leaves("\x04")
}

// A loop that swallows Ctrl-C must not hold the prompt: the guard replaces the machine.
func TestPromptOutlivesTheMachine(t *testing.T) {
	u := start(t)
	p := u.sitDown(t)
	p.waits(">>> ")
	p.types("print('ready')\r")
	p.waits("ready\r\n>>> ")
	p.types("\x1b[200~while True:\r    try:\r        while True: print('stuck')\r    except BaseException: pass\r\x1b[201~\r")
	p.waits("stuck\r\nstuck\r\n") // not the echo of what was pasted
	p.types("\x03")
	p.waits(">>> ")
	p.types("6 * 7\r")
	p.waits("42\r\n>>> ")
	p.leaves("\x04")
}
