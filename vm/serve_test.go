//go:build linux

package vm

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/vm/frame"
)

// counting is a sink that counts.
type counting struct {
	calls int
	bytes [2]int
}

func (c *counting) Call(context.Context, hw.Call) hw.Reply { c.calls++; return hw.Reply{} }
func (c *counting) Output(s hw.Stream, p []byte)           { c.bytes[s-hw.Stdout] += len(p) }
func (c *counting) total(t *testing.T, s hw.Stream, most int) {
	if got := c.bytes[s-hw.Stdout]; got > most {
		t.Errorf("stream %d: got %d bytes, want at most %d", s, got, most)
	}
}

// FuzzServe lets a machine say anything while it has a job: the guard must come to an end with it, and the sink must not
// see more than the job allowed.
func FuzzServe(f *testing.F) {
	add := func(recs ...any) {
		var buf []byte
		for _, rec := range recs {
			var err error
			if buf, err = frame.Append(buf, rec); err != nil {
				f.Fatal(err)
			}
		}
		f.Add(buf, false)
		f.Add(buf, true)
	}
	const seq, kept = 1, 10
	add(&frame.Call{Seq: seq}, frame.Output{Seq: seq, Stream: hw.Stdout, Data: []byte("pal")}, frame.Done{Seq: seq}, frame.Heartbeat{})
	add(frame.Output{Seq: seq, Stream: hw.Stdout, Data: []byte("0123456")}, frame.Output{Seq: seq, Stream: hw.Stdout, Data: []byte("0123456")})
	add(frame.Done{Seq: seq}, &frame.Call{Seq: seq})
	add(frame.Ready{})
	f.Fuzz(func(t *testing.T, said []byte, shared bool) {
		if len(said) > limits.FrameBytes/2 { // more would not fit into the socket while nobody reads
			return
		}
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		theirs := os.NewFile(uintptr(fds[1]), "channel")
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		c := &child{proc: self, fd: fds[0]}
		if shared {
			mem, file := makeShared()
			if mem == nil || file.Close() != nil {
				t.Fatal("no shared memory")
			}
			c.shared.mem, c.shared.late = mem, limits.RingBytes
			_, out := frame.Rings(mem, false)
			if n, err := out.Write(said); n < len(said) || err != nil {
				t.Fatalf("write into the ring: %d, %v", n, err)
			}
			said = nil
		}
		p := newProcess(c, slog.New(slog.DiscardHandler), new(atomic.Int32))
		p.reaped = true // there is no process to kill
		sink := &counting{}
		job := &running{ctx: t.Context(), sink: sink, left: [2]int{kept, kept}, done: make(chan hw.Outcome, 1)}
		if err := p.begin(job); err != nil {
			t.Fatal(err)
		}
		ready, err := frame.Append(nil, frame.Ready{Shared: shared})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := theirs.Write(append(ready, said...)); err != nil {
			t.Fatal(err)
		}
		if err := unix.Shutdown(fds[1], unix.SHUT_WR); err != nil {
			t.Fatal(err)
		}
		if err := p.serve(); err == nil {
			t.Error("serve ended without an error")
		}
		p.kill(hw.RungNone, "end of test")
		before := sink.calls
		if job, _ := p.current("call", seq); job != nil || sink.calls != before {
			t.Error("a job is current after the end was decided")
		}
		sink.total(t, hw.Stdout, kept)
		sink.total(t, hw.Stderr, kept)
		if err := theirs.Close(); err != nil {
			t.Error(err)
		}
		if err := p.c.close(); err != nil {
			t.Error(err)
		}
	})
}

// A machine that says it shares memory which the guard did not give it lies.
func TestSharesNothing(t *testing.T) {
	s := server{process: &process{c: &child{}}}
	if err := s.handle(frame.Ready{Shared: true}); !errors.As(err, new(violation)) {
		t.Errorf("got %v, want a violation", err)
	}
}

// What a descendant still writes after the end was decided must not keep the guard reading: at most a ring's worth is heard.
func TestReadsNoEndlessRing(t *testing.T) {
	mem, file := makeShared()
	if mem == nil || file.Close() != nil {
		t.Fatal("no shared memory")
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := &child{fd: fds[0], shared: shared{mem: mem, late: limits.RingBytes}}
	if !c.share() {
		t.Fatal("no rings")
	}
	_, out := frame.Rings(mem, false)
	c.shutdown()
	total, buf := 0, make([]byte, limits.FrameBytes)
	for {
		if _, err := out.Write(buf); err != nil {
			t.Fatal(err)
		}
		n, err := c.Read(buf)
		total += n
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Errorf("Read: got %v, want io.EOF", err)
			}
			break
		}
	}
	if total != limits.RingBytes {
		t.Errorf("heard %d bytes, want %d", total, limits.RingBytes)
	}
	if err := errors.Join(c.close(), unix.Close(fds[1])); err != nil {
		t.Error(err)
	}
}

// The size of the memory is fixed: a machine that cut it would turn the guard's next read into a bus error.
func TestSharedMemoryIsSealed(t *testing.T) {
	mem, file := makeShared()
	if mem == nil {
		t.Fatal("no shared memory")
	}
	for _, size := range []int64{0, frame.SharedBytes - 1, 2 * frame.SharedBytes} {
		if err := file.Truncate(size); !errors.Is(err, unix.EPERM) {
			t.Errorf("resize to %d: got %v, want EPERM", size, err)
		}
	}
	if _, err := unix.FcntlInt(file.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_WRITE); !errors.Is(err, unix.EPERM) {
		t.Errorf("one more seal: got %v, want EPERM", err)
	}
	if err := errors.Join(file.Close(), unmap(mem)); err != nil {
		t.Error(err)
	}
}

func TestLastWords(t *testing.T) {
	long := strings.Repeat("goroutine 7 [running]:\n", limits.VMStderrBytes)
	tests := []struct{ name, said, line string }{
		{"nothing", "", ""},
		{"message", "noise\npal: engine file missing\n\n", "pal: engine file missing"},
		{"panic", "panic: no\n\n" + long, "panic: no"},
		{"runtime", "fatal error: out of memory\n" + long + "exit status 2", "fatal error: out of memory"},
		{"threads", "noise\nruntime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort\nPC=0x1 m=0\n" + long, "runtime/cgo: pthread_create failed: Resource temporarily unavailable"},
		{"memory", "runtime: out of memory: cannot allocate 4194304-byte block\nfatal error: out of memory\n" + long, "runtime: out of memory: cannot allocate 4194304-byte block"},
		{"signal", "SIGQUIT: quit\nPC=0x1 m=0 sigcode=0\n" + long, "SIGQUIT: quit"},
		{"message-after-much", long + "pal: no\n", "pal: no"},
		{"control-characters", "a\x1b[2J\x00b\n", "a [2J b"},
		{"not-utf8", "\xff\xfe!\n", "\uFFFD!"},
		{"long-line", strings.Repeat("é", limits.ReasonBytes), strings.Repeat("é", limits.ReasonBytes/2)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := lastWords{eof: make(chan struct{})}
			w.listen(io.NopCloser(strings.NewReader(test.said)))
			if got := w.line(); got != test.line {
				t.Errorf("line: got %q, want %q", got, test.line)
			}
			if got := len(w.head) + len(w.tail); got > limits.VMStderrBytes {
				t.Errorf("kept: got %d bytes, want at most %d", got, limits.VMStderrBytes)
			}
		})
	}
}

// Somebody who holds the child's standard error open must not hold up its end.
func TestLastWordsHeldOpen(t *testing.T) {
	r, held, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	w := lastWords{eof: make(chan struct{})}
	go w.listen(r)
	began := time.Now()
	w.finish(r)
	if took := time.Since(began); took > 100*limits.VMExitWait {
		t.Errorf("finish took %v, want about %v", took, limits.VMExitWait)
	}
}
