package repl

import (
	"bytes"
	"io"
	"sync"

	"github.com/pal-terminal/pal/limits"
)

// Bytes that mean something wherever they come.
const (
	ctrlC     = 0x03
	ctrlRight = 0x1d // Ctrl-]
)

// What is put into the line editor's input when Ctrl-C was typed at the prompt: to the end of the line, delete it, enter.
const clearLine = "\x05\x15\r"

// keyboard reads a terminal in raw mode on a goroutine of its own, so that Ctrl-C and Ctrl-] are seen also while code runs
// and nobody reads lines. The line editor reads from it what is left.
type keyboard struct {
	over <-chan struct{} // ends Read
	wake chan struct{}   // of size one: something changed

	cancelled bool // the last Read gave a clearLine; used by the reader of lines only

	mu        sync.Mutex // guards what follows
	typed     []byte
	interrupt func() // ends what runs, must not block; nil at the prompt
	left      bool   // Ctrl-]
	err       error  // of the terminal
}

// newKeyboard starts reading tty. The goroutine ends with the first read that fails: a read of a terminal cannot be called
// off, so otherwise it ends with the process.
func newKeyboard(tty io.Reader, over <-chan struct{}) *keyboard {
	k := &keyboard{over: over, wake: make(chan struct{}, 1)}
	go k.listen(tty)
	return k
}

func (k *keyboard) listen(tty io.Reader) {
	buf := make([]byte, 4096)
	for {
		n, err := tty.Read(buf)
		k.take(buf[:n], err)
		if err != nil {
			return
		}
	}
}

// take sorts what was typed.
func (k *keyboard) take(p []byte, err error) {
	k.mu.Lock()
	for _, b := range p {
		switch {
		case b == ctrlRight:
			k.left = true
			if k.interrupt != nil {
				k.interrupt()
			}
		case b == ctrlC && k.interrupt != nil:
			k.typed = k.typed[:0] // as a terminal does: what was typed ahead goes too
			k.interrupt()
		case len(k.typed) < limits.TypeAheadSize:
			k.typed = append(k.typed, b)
		}
	}
	k.err = err
	k.mu.Unlock()
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// Read gives the line editor what was typed. A Ctrl-C comes as a clearLine and in a Read of its own, so that whoever gets
// the line that it ends can tell it by cancelled.
func (k *keyboard) Read(p []byte) (int, error) {
	for {
		if n, err := k.next(p); n > 0 || err != nil {
			return n, err
		}
		select {
		case <-k.wake:
		case <-k.over:
			return 0, io.EOF
		}
	}
}

func (k *keyboard) next(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cancelled = false
	switch {
	case k.left:
		return 0, io.EOF
	case len(k.typed) == 0:
		return 0, k.err
	case k.typed[0] == ctrlC:
		k.typed = k.typed[1:]
		k.cancelled = true
		return copy(p, clearLine), nil
	}
	upTo := bytes.IndexByte(k.typed, ctrlC)
	if upTo < 0 {
		upTo = len(k.typed)
	}
	n := copy(p, k.typed[:upTo])
	k.typed = k.typed[n:]
	return n, nil
}

// leaving reports whether Ctrl-] was typed.
func (k *keyboard) leaving() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.left
}

// during has interrupt called for every Ctrl-C, and for Ctrl-], until the returned func is called.
func (k *keyboard) during(interrupt func()) (done func()) {
	set := func(f func()) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.interrupt = f
	}
	set(interrupt)
	return func() { set(nil) }
}
