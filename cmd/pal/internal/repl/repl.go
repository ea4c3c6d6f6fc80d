// Package repl is the prompt: it makes statements of typed lines and hands them to whoever runs them.
//
// # Model
//
// [Interactive] owns a terminal for as long as it runs: raw mode, a line editor with history, and one goroutine that reads
// keys all the time, so that Ctrl-C reaches running code. [Script] does the same for input that nobody types. Both put
// lines together with [Blocks] and know no Python beyond what that needs: what is wrong with a statement, the machine says.
//
// repl does not know terminals of PAL: it calls a [Run].
package repl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/pal-terminal/pal/limits"
)

// Run runs one statement and prints all of its output, errors of the program included, to out. When ctx ends it interrupts
// the statement and returns when that has ended. An error means that nothing more can be run.
type Run func(ctx context.Context, code string, out io.Writer) error

// Prompts, as a board shows them.
const (
	prompt     = ">>> "
	promptMore = "... "
)

// Screen is where Interactive lives.
type Screen struct {
	Keys    *os.File  // a terminal
	Display io.Writer // the same terminal
	History string    // file that keeps the lines typed; empty keeps none
}

// Interactive reads statements until Ctrl-D or Ctrl-], the end of ctx, or an error of run.
func Interactive(ctx context.Context, s Screen, run Run) (err error) {
	past, err := openHistory(s.History)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, past.close()) }()
	fd := int(s.Keys.Fd())
	cooked, err := term.MakeRaw(fd)
	if err != nil {
		return fmt.Errorf("take over the terminal: %w", err)
	}
	defer func() { err = errors.Join(err, term.Restore(fd, cooked)) }()

	keys := newKeyboard(s.Keys, ctx.Done())
	editor := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{keys, s.Display}, prompt)
	editor.History = past
	editor.AutoCompleteCallback = indent
	editor.SetBracketedPasteMode(true)
	defer editor.SetBracketedPasteMode(false)
	p := &session{keys: keys, editor: editor, run: run, size: func() (int, int, error) { return term.GetSize(fd) }}
	return p.loop(ctx)
}

// indent makes the tab key insert spaces.
func indent(line string, pos int, key rune) (string, int, bool) {
	const width = "    "
	if key != '\t' {
		return "", 0, false
	}
	return line[:pos] + width + line[pos:], pos + len(width), true
}

// session is one use of the prompt.
type session struct {
	keys   *keyboard
	editor *term.Terminal
	run    Run
	size   func() (width, height int, err error)
	blocks Blocks
}

func (p *session) loop(ctx context.Context) error {
	for ctx.Err() == nil && !p.keys.leaving() {
		if width, height, err := p.size(); err == nil && width > 0 { // it may have changed while code ran
			if err := p.editor.SetSize(width, height); err != nil {
				return fmt.Errorf("fit the screen: %w", err)
			}
		}
		p.editor.SetPrompt(prompt)
		if p.blocks.Pending() {
			p.editor.SetPrompt(promptMore)
		}
		line, err := p.editor.ReadLine()
		pasted := errors.Is(err, term.ErrPasteIndicator)
		switch {
		case errors.Is(err, io.EOF):
			_, err := io.WriteString(p.editor, "\n") // the shell's prompt begins on a line of its own
			return err
		case err != nil && !pasted:
			return fmt.Errorf("read a line: %w", err)
		case p.keys.cancelled:
			p.blocks.Reset()
			continue
		}
		if err := p.enter(ctx, line, pasted); err != nil {
			return err
		}
	}
	return nil
}

// enter takes a line and runs what it completes.
func (p *session) enter(ctx context.Context, line string, pasted bool) error {
	if pasted {
		for _, code := range p.blocks.Pasted(line) {
			if err := p.statement(ctx, code); err != nil {
				return err
			}
		}
		return nil
	}
	if code := p.blocks.Typed(line); code != "" {
		return p.statement(ctx, code)
	}
	return nil
}

// statement runs one statement. A Ctrl-C that came before the code was on its way, or whose result was too long in coming, is no
// reason to leave the prompt.
func (p *session) statement(ctx context.Context, code string) error {
	own, cancel := context.WithCancel(ctx)
	defer cancel()
	defer p.keys.during(cancel)()
	err := p.run(own, code, p.editor)
	if errors.Is(err, context.Canceled) && ctx.Err() == nil && !p.keys.leaving() {
		_, err = io.WriteString(p.editor, "KeyboardInterrupt\n")
	}
	return err
}

// Script runs the statements of in one after the other, up to the end of in or of ctx or to an error of run.
func Script(ctx context.Context, in io.Reader, out io.Writer, run Run) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, limits.CodeBytes)
	var blocks Blocks
	for lines.Scan() {
		for _, code := range blocks.Pasted(strings.TrimRight(lines.Text(), "\r")) {
			if err := run(ctx, code, out); err != nil || ctx.Err() != nil {
				return err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read statements: %w", err)
	}
	if code := blocks.Flush(); code != "" {
		return run(ctx, code, out)
	}
	return nil
}
