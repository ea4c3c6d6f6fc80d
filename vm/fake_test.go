//go:build linux

package vm_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/hw/hwtest"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/vm/frame"
)

// The test binary starts itself as `fake ROLE --cache … ` and then plays a machine: it speaks frames on descriptor 3 and
// knows the programs of hwtest and the misdeeds of this package by their text instead of running Python.
//
// Roles say what happens before a job can: "good", "socket" (good, without shared memory),  "words" (a message and exit 3), "trickle" (ready late, after the file
// "go" appears in the cache folder), "dwindling" (good twice, then as words), "hasty" (a call before ready), "double" (ready twice).
func fakeMachine(role string, args []string) int {
	flags := flag.NewFlagSet("fake", flag.ContinueOnError)
	cache := flags.String("cache", "", "")
	heap := flags.Int("heap", 0, "")
	board := flags.String("board", "", "")
	version := flags.String("version", "", "")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *cache != "" {
		note(filepath.Join(*cache, "starts"))
	}
	f := &fake{
		conn: openPort(), began: time.Now(), names: map[string]bool{},
		replies: make(chan hw.Reply, 1), edges: make(chan hw.Edge, 1<<16), // more than a test sends: what is lost, the guard lost
	}
	ready := frame.Ready{Engine: *board + " " + *version, Sandbox: []string{"none"}, Missing: []string{"all: a fake"}, BootUS: 7, HeapBytes: uint64(*heap)}
	if role == "good" || role == "dwindling" {
		ready.Shared = f.conn.attach()
	}
	switch role {
	case "good", "socket":
	case "words":
		fmt.Fprintln(os.Stderr, "noise")
		fmt.Fprintln(os.Stderr, "pal: engine file missing: run make build")
		return 3
	case "trickle":
		await(func() bool { _, err := os.Stat(filepath.Join(*cache, "go")); return err == nil })
	case "dwindling":
		if info, err := os.Stat(filepath.Join(*cache, "starts")); err != nil || info.Size() > 2 {
			fmt.Fprintln(os.Stderr, "no more machines")
			return 3
		}
	case "hasty":
		f.send(&frame.Call{Call: hw.Call{Op: hw.OpPinRead}})
	case "double":
		f.send(ready)
	default:
		fmt.Fprintln(os.Stderr, "no such role:", role)
		return 2
	}
	f.send(ready)
	f.conn.share()
	go f.beat()
	return f.serve()
}

// note appends a byte to a file: its length counts the processes that came by.
func note(path string) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	if _, err := file.WriteString("x"); err != nil {
		panic(err)
	}
}

// await polls until a fact holds.
func await(fact func() bool) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !fact() {
		<-tick.C
	}
}

type fake struct {
	conn    *port
	began   time.Time
	names   map[string]bool // sessions in which Keep ran
	replies chan hw.Reply
	edges   chan hw.Edge

	mu        sync.Mutex // guards what follows, and writing
	seq       uint32
	interrupt chan struct{}
	mute      bool
}

func (f *fake) send(recs ...any) {
	var buf []byte
	for _, rec := range recs {
		var err error
		if buf, err = frame.Append(buf, rec); err != nil {
			panic(err)
		}
	}
	f.raw(buf)
}

func (f *fake) raw(buf []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := f.conn.Write(buf); err != nil {
		os.Exit(0) // the guard is gone or had enough of us
	}
}

func (f *fake) beat() {
	for range time.Tick(limits.HeartbeatPeriod) {
		f.mu.Lock()
		mute := f.mute
		f.mu.Unlock()
		if !mute {
			f.send(frame.Heartbeat{})
		}
	}
}

// receive reads one record; nil is the end of the channel.
func receive(in *bufio.Reader) any {
	var head [frame.HeaderBytes]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil
	}
	n, err := frame.Length(head)
	if err != nil {
		panic(err)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(in, body); err != nil {
		return nil
	}
	rec, err := frame.Decode(body)
	if err != nil {
		panic(err)
	}
	return rec
}

func (f *fake) serve() int {
	in := bufio.NewReader(f.conn)
	for {
		rec := receive(in)
		switch r := rec.(type) {
		case nil:
			return 0
		case frame.Run:
			if n, ok := strings.CutPrefix(r.Job.Code, calls); ok {
				f.callAway(in, r.Seq, n)
				continue
			}
			f.start(r)
			if r.Job.Code == deafness {
				select {}
			}
		case frame.Interrupt:
			f.mu.Lock()
			if f.interrupt != nil && f.seq == r.Seq {
				close(f.interrupt)
				f.interrupt = nil
			}
			f.mu.Unlock()
		case *frame.Reply:
			f.replies <- r.Reply // with one in hand already this blocks: replies pile up unread
		case frame.Edge:
			f.edges <- r.Edge
		default:
			panic(fmt.Sprintf("unexpected %T", rec))
		}
	}
}

// callAway makes n calls on this goroutine, as a real machine does: no hand-over inside the fake takes part in what the
// benchmark measures.
func (f *fake) callAway(in *bufio.Reader, seq uint32, count string) {
	n, err := strconv.Atoi(count)
	if err != nil {
		panic(err)
	}
	call := frame.Call{Seq: seq, Call: hw.Call{Op: hw.OpPinWrite, Pin: 3, A: 1}}
	for range n {
		f.send(&call)
		if reply, ok := receive(in).(*frame.Reply); !ok {
			panic(fmt.Sprintf("answer: %T", reply))
		}
	}
	f.send(frame.Done{Seq: seq})
}

// start runs a job on a goroutine of its own, so that interrupts and replies are read meanwhile.
func (f *fake) start(r frame.Run) {
	stop := make(chan struct{})
	f.mu.Lock()
	if f.interrupt != nil {
		panic("a job while another runs")
	}
	f.seq, f.interrupt = r.Seq, stop
	f.mu.Unlock()
	for len(f.edges) > 0 {
		<-f.edges
	}
	go func() {
		j := &fakeJob{fake: f, seq: r.Seq, job: r.Job, stop: stop, left: [2]int{r.Job.MaxOutput, r.Job.MaxOutput}}
		for _, name := range r.Job.Drop {
			delete(f.names, name)
		}
		out := j.run()
		out.DroppedOut, out.DroppedErr = j.dropped[0], j.dropped[1]
		f.mu.Lock()
		f.interrupt = nil
		f.mu.Unlock()
		f.send(frame.Done{Seq: r.Seq, Outcome: out})
	}()
}

// fakeJob is a running job of the fake.
type fakeJob struct {
	*fake
	seq     uint32
	job     hw.Job
	stop    chan struct{} // closed by the guard's interrupt
	left    [2]int
	dropped [2]int
}

func (j *fakeJob) print(s hw.Stream, text string) {
	i := s - hw.Stdout
	n := min(len(text), j.left[i])
	j.left[i] -= n
	j.dropped[i] += len(text) - n
	for chunk := range chunks(text[:n], limits.OutputChunk) {
		j.send(frame.Output{Seq: j.seq, Stream: s, Data: []byte(chunk)})
	}
}

func chunks(text string, size int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for len(text) > 0 {
			n := min(size, len(text))
			if !yield(text[:n]) {
				return
			}
			text = text[n:]
		}
	}
}

func (j *fakeJob) call(c hw.Call) hw.Reply {
	j.send(&frame.Call{Seq: j.seq, Call: c})
	return <-j.replies
}

// post makes a call that it does not wait for.
func (j *fakeJob) post(c hw.Call) {
	c.Posted = true
	j.send(&frame.Call{Seq: j.seq, Call: c})
}

// failed is the end of a job whose last call failed, a good one when it did not.
func failed(r hw.Reply) hw.Outcome {
	if r.Errno == 0 {
		return hw.Outcome{}
	}
	out := raised("OSError", fmt.Sprintf("[Errno %d] %s", r.Errno, r.Text), 2)
	out.Refusal = r.Refusal
	return out
}

func raised(class, message string, line int) hw.Outcome {
	return hw.Outcome{Exception: &hw.Exception{Class: class, Message: message, Line: line, Traceback: class + ": " + message}}
}

// pin opens hwtest.PinName and gives it a mode.
func (j *fakeJob) pin(mode hw.Mode) (uint16, *hw.Outcome) {
	r := j.call(hw.Call{Op: hw.OpPinOpen, Text: hwtest.PinName})
	if r.Errno != 0 {
		out := failed(r)
		return 0, &out
	}
	handle := uint16(r.Value)
	j.call(hw.Call{Op: hw.OpPinMode, Pin: handle, A: int64(mode), C: -1})
	return handle, nil
}

// run plays the program.
func (j *fakeJob) run() hw.Outcome {
	switch j.job.Code {
	case hwtest.Hello:
		j.print(hw.Stdout, "pal\n")
	case hwtest.Complain:
		j.print(hw.Stderr, "oops\n")
	case hwtest.Fail:
		return raised("ValueError", "no", 2)
	case hwtest.Answer:
		return hw.Outcome{Value: []byte("42")}
	case hwtest.Flood:
		j.print(hw.Stdout, strings.Repeat(strings.Repeat("x", 99)+"\n", 2000))
	case hwtest.Keep:
		j.names[j.job.Session] = j.job.Session != ""
	case hwtest.Show:
		if !j.names[j.job.Session] {
			return raised("NameError", "name 'kept' isn't defined", 1)
		}
		j.print(hw.Stdout, "42\n")
	case hwtest.Endless:
		j.names[j.job.Session] = true
		if _, out := j.pin(hw.ModeOut); out != nil {
			return *out
		}
		<-j.stop
		return raised("KeyboardInterrupt", "", 4)
	case hwtest.Swallow:
		if _, out := j.pin(hw.ModeOut); out != nil {
			return *out
		}
		select {}
	case hwtest.Drive:
		handle, out := j.pin(hw.ModeOut)
		if out != nil {
			return *out
		}
		j.post(hw.Call{Op: hw.OpPinWrite, Pin: handle, A: 1})
		j.post(hw.Call{Op: hw.OpPinWrite, Pin: handle, A: 0})
		return failed(j.call(hw.Call{Op: hw.OpFlush}))
	case hwtest.Heal:
		handle, out := j.pin(hw.ModeOut)
		if out != nil {
			return *out
		}
		j.post(hw.Call{Op: hw.OpPinWrite, Pin: handle, A: 1})
		j.post(hw.Call{Op: hw.OpPinWrite, Pin: handle, A: 0})
		if r := j.call(hw.Call{Op: hw.OpPinRead, Pin: handle}); r.Errno != 0 {
			return failed(j.call(hw.Call{Op: hw.OpPinWrite, Pin: handle}))
		}
	case hwtest.Watch:
		handle, out := j.pin(hw.ModeIn)
		if out != nil {
			return *out
		}
		j.call(hw.Call{Op: hw.OpPinIRQ, Pin: handle, A: int64(hw.EdgeRising)})
		select {
		case <-j.edges:
			j.print(hw.Stdout, "rose\n")
		case <-j.stop:
			return raised("KeyboardInterrupt", "", 5)
		}
	default:
		return j.special()
	}
	return hw.Outcome{}
}

// Programs of this package's tests: what a machine does that is no Python.
const (
	inspect  = "inspect"  // print what the process was given
	calls    = "calls "   // N calls
	slowEnd  = "slow end" // on KeyboardInterrupt take half the grace, then end well
	lostSum  = "lost"     // wait for edges until one carries Lost; print "lost N"
	fork     = "fork"     // start a descendant in the group, print its process id, loop
	deafness = "deaf"     // stop reading
	muteness = "mute"     // stop heartbeats, loop
	unheard  = "unheard"  // stop heartbeats, move the cursor without waking the guard, loop
	misdeed  = "misdeed " // NAME: see misdeeds
	cut      = "cut "     // N: end after N bytes of script
)

func (j *fakeJob) special() hw.Outcome {
	code := j.job.Code
	switch {
	case code == inspect:
		j.print(hw.Stdout, surroundings())
	case code == slowEnd:
		j.pin(hw.ModeOut)
		<-j.stop
		<-time.After(limits.InterruptGrace / 2)
	case code == lostSum:
		j.pin(hw.ModeOut)
		for e := range j.edges {
			if e.Lost > 0 {
				j.print(hw.Stdout, fmt.Sprintf("lost %d", e.Lost))
				return hw.Outcome{}
			}
		}
	case code == fork:
		child := exec.Command("/bin/sleep", "1000")
		child.ExtraFiles = []*os.File{j.conn.socket} // also holds the channel and standard error open
		child.Stderr = os.Stderr
		if err := child.Start(); err != nil {
			return raised("OSError", err.Error(), 1)
		}
		j.print(hw.Stdout, strconv.Itoa(child.Process.Pid))
		j.pin(hw.ModeOut)
		select {}
	case code == muteness:
		j.mu.Lock()
		j.mute = true
		j.mu.Unlock()
		<-j.stop
	case code == unheard:
		j.mu.Lock()
		j.mute = true
		j.mu.Unlock()
		for n := uint64(1); ; n++ {
			select {
			case <-j.stop:
				return hw.Outcome{}
			case <-time.After(time.Second / 10):
				j.conn.setWord(tailUp, n<<40)
			}
		}
	case code == deafness:
		j.pin(hw.ModeOut)
		select {}
	case strings.HasPrefix(code, misdeed):
		j.misbehave(code[len(misdeed):])
	case strings.HasPrefix(code, cut):
		n, err := strconv.Atoi(code[len(cut):])
		if err != nil {
			return raised("ValueError", err.Error(), 1)
		}
		bytes, _ := script(j.seq)
		j.raw(bytes[:n])
		os.Exit(5)
	default:
		return raised("SyntaxError", "the fake does not know this program", 1)
	}
	return hw.Outcome{}
}

// surroundings lists what the process was given, one thing a line.
func surroundings() string {
	var b strings.Builder
	fmt.Fprintf(&b, "environment %d\n", len(os.Environ()))
	fmt.Fprintf(&b, "own group %v\n", unix.Getpgrp() == os.Getpid())
	score, err := os.ReadFile("/proc/self/oom_score_adj")
	fmt.Fprintf(&b, "first to go %s %v\n", strings.TrimSpace(string(score)), err)
	wd, err := os.Getwd()
	fmt.Fprintf(&b, "folder %s %v\n", wd, err)
	for fd := range 64 {
		target, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
		// The Go runtime's own: its poller and the processor quota that it watches.
		if err != nil || strings.HasPrefix(target, "anon_inode:") || strings.HasPrefix(target, "/sys/fs/cgroup/") {
			continue
		}
		kind, _, _ := strings.Cut(target, ":")
		fmt.Fprintf(&b, "descriptor %d %s\n", fd, kind)
	}
	fmt.Fprintf(&b, "arguments %s\n", strings.Join(os.Args[2:], " "))
	return b.String()
}
