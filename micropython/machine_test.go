//go:build unix

package micropython

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pal-terminal/pal/flash"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/vm/frame"
)

// guard is a test's side of the channel: it answers hardware calls and collects what the machine sends.
type guard struct {
	t       testing.TB
	file    *os.File
	seq     uint32
	machine *machine // nil when it is another process

	mu    sync.Mutex   // guards writes
	store *flash.Store // what programs keep
	// fileAnswer serves file calls instead of store.
	fileAnswer func(hw.Call) hw.Reply
	// answer serves hardware calls; nil answers 0.
	answer func(hw.Call) hw.Reply
	// heard is called for every record but calls and Done, on the goroutine of run.
	heard func(any)
	beats int
}

var cacheDir = sync.OnceValue(func() string { return filepath.Join(os.TempDir(), fmt.Sprintf("pal-engine-test-%d", os.Getuid())) })

// start boots a machine in this process, without the sandbox, and serves it until the test ends.
func start(t testing.TB) *guard {
	t.Helper()
	if err := Available(); err != nil {
		t.Fatal(err)
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	ch, err := openChannel(fds[0], 2)
	if err != nil {
		t.Fatal(err)
	}
	m, err := newMachine(context.Background(), Options{
		CacheDir: cacheDir(), HeapBytes: limits.VMHeapDefault, Board: "bench-sim", Version: "test",
	}, ch)
	if err != nil {
		t.Fatal(err)
	}
	g := &guard{t: t, file: os.NewFile(uintptr(fds[1]), "guard"), machine: m}
	done := make(chan error, 1)
	go func() { done <- m.serve() }()
	t.Cleanup(func() {
		if err := unix.Shutdown(fds[1], unix.SHUT_RDWR); err != nil {
			t.Errorf("end the channel: %v", err)
		}
		if err := <-done; err != nil {
			t.Errorf("the machine ended with %v", err)
		}
		if err := errors.Join(g.file.Close(), m.close(), unix.Close(fds[0])); err != nil {
			t.Error(err)
		}
	})
	return g
}

func (g *guard) send(rec any) {
	g.t.Helper()
	buf, err := frame.Append(nil, rec)
	if err != nil {
		g.t.Fatal(err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, err := g.file.Write(buf); err != nil {
		g.t.Fatalf("write to the machine: %v", err)
	}
}

func (g *guard) next() any {
	g.t.Helper()
	var head [frame.HeaderBytes]byte
	if _, err := io.ReadFull(g.file, head[:]); err != nil {
		g.t.Fatalf("read from the machine: %v", err)
	}
	n, err := frame.Length(head)
	if err != nil {
		g.t.Fatal(err)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(g.file, body); err != nil {
		g.t.Fatal(err)
	}
	rec, err := frame.Decode(body)
	if err != nil {
		g.t.Fatal(err)
	}
	return rec
}

// result is a job's end with what it printed.
type result struct {
	hw.Outcome
	out, err string
	calls    []hw.Call
}

// serveFile serves the file calls, which are not among a result's calls.
func (g *guard) serveFile(c hw.Call) hw.Reply {
	if g.fileAnswer != nil {
		return g.fileAnswer(c)
	}
	if g.store == nil {
		store, err := flash.Open("")
		if err != nil {
			g.t.Fatal(err)
		}
		g.store = store
	}
	return g.store.Call(flash.Full, c)
}

// run runs one job to its end.
func (g *guard) run(job hw.Job) result {
	g.t.Helper()
	if job.MaxOutput == 0 {
		job.MaxOutput = limits.OutputMax
	}
	g.begin(job)
	return g.finish()
}

func (g *guard) begin(job hw.Job) {
	g.t.Helper()
	g.seq++
	g.send(frame.Run{Seq: g.seq, Job: job})
}

func (g *guard) finish() result {
	g.t.Helper()
	var r result
	var owed *hw.Reply // as package vm does it
	for {
		switch rec := g.next().(type) {
		case frame.Done:
			if rec.Seq != g.seq {
				g.t.Fatalf("end of job %d, want %d", rec.Seq, g.seq)
			}
			r.Outcome = rec.Outcome
			return r
		case *frame.Call:
			if rec.Call.Op == hw.OpFile {
				reply := g.serveFile(rec.Call)
				g.send(&frame.Reply{Reply: reply})
				continue
			}
			r.calls = append(r.calls, rec.Call)
			reply := hw.Reply{}
			switch {
			case owed != nil && !rec.Call.Posted:
				reply, owed = *owed, nil
			case owed == nil && g.answer != nil && rec.Call.Op != hw.OpFlush:
				reply = g.answer(rec.Call)
			}
			if !rec.Call.Posted {
				g.send(&frame.Reply{Reply: reply})
			} else if reply.Errno != 0 {
				owed = &reply
			}
		case frame.Output:
			if rec.Stream == hw.Stdout {
				r.out += string(rec.Data)
			} else {
				r.err += string(rec.Data)
			}
			if g.heard != nil {
				g.heard(rec)
			}
		case frame.Heartbeat:
			g.beats++
			if g.heard != nil {
				g.heard(rec)
			}
		default:
			g.t.Fatalf("the machine sent %T", rec)
		}
	}
}

// exec runs code in the session "s".
func (g *guard) exec(code string) result {
	g.t.Helper()
	return g.run(hw.Job{Kind: hw.JobExec, Session: "s", Code: code})
}

// interruptAfter interrupts the running job at a later time.
func (g *guard) interruptAfter(d time.Duration) {
	seq := g.seq
	timer := time.AfterFunc(d, func() { g.send(frame.Interrupt{Seq: seq}) })
	g.t.Cleanup(func() { timer.Stop() })
}

func TestHello(t *testing.T) {
	g := start(t)
	r := g.exec("print('hello')")
	if r.out != "hello\n" || r.Exception != nil {
		t.Fatalf("got %q, %+v %s", r.out, r.Exception, r.err)
	}
}

// The engine asks for memory by emscripten_resize_heap: it gets what it asked for, up to the bound, or is told so.
func TestMemoryGrowsUpToItsBound(t *testing.T) {
	m, err := newMachine(t.Context(), Options{CacheDir: cacheDir(), HeapBytes: limits.VMHeapDefault, Board: "bench-sim", Version: "test"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close() // nothing was asked of it
	resize := imports(m)["emscripten_resize_heap"]
	start := uint64(m.eng.mem.Size())
	for _, tt := range []struct{ bytes, answer, least uint64 }{
		{start, 1, start},
		{start + 1, 1, start + 1},
		{m.eng.maxBytes, 1, m.eng.maxBytes},
		{m.eng.maxBytes + 1, 0, m.eng.maxBytes},
		{1<<32 - 1, 0, m.eng.maxBytes},
		{start, 1, m.eng.maxBytes}, // it never shrinks
	} {
		stack := []uint64{tt.bytes}
		resize(stack)
		size := uint64(m.eng.mem.Size())
		if stack[0] != tt.answer || size < tt.least || size > m.eng.maxBytes {
			t.Errorf("%d bytes: got %d and %d bytes, want %d and at least %d", tt.bytes, stack[0], size, tt.answer, tt.least)
		}
	}
}
