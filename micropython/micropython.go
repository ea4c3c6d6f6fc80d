// Package micropython is the child side of PAL: the process that runs guest code and nothing else.
//
// # Model
//
// `pal vm` calls [Main], which boots MicroPython (the engine file embedded here, run by wazero), puts itself into a sandbox
// and then serves jobs that come through memory it shares with the guard or, without that, over one inherited socket (package
// vm/frame). One goroutine does everything: it runs the engine, and where the engine lets it, at each tick (about a millisecond
// of busy Python), hardware call, sleep and between jobs, it takes in what the guard sent. So nothing is ever done to the engine
// behind its back.
//
// The guest library (lib/*.py) gives programs machine, time and the rest; every use of hardware in it becomes one
// [hw.Call] to the guard, which decides. The driver (lib/driver.py) runs the jobs, keeps sessions apart and reports
// exceptions as a board prints them.
//
// # What it refuses
//
// A program sees no host files and no network, and sets no clock but its own; its files are the guard's. Bytecode files (.mpy) cannot be
// made, so none can be imported. The process holds no grant of any kind: when a program breaks out of the engine it stands
// in a process that may only talk to the guard, and the guard trusts nothing said here. When the engine fails the process
// ends at once with one line on standard error and never tries to go on.
package micropython

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/vm/frame"
)

// Options say what a machine is.
type Options struct {
	FD        int          // descriptor of the stream socket to the guard; shared memory, where there is some, is the next
	CacheDir  string       // folder for compiled engines; "" or an unusable one compiles at each start
	HeapBytes int          // MicroPython heap, limits.VMHeapLeast to limits.VMHeapMax; 0 means limits.VMHeapDefault
	Board     string       // name of the board, for os.uname() and sys.implementation
	Version   string       // PAL's version, for the same
	Log       *slog.Logger // nil discards
}

// Main serves jobs on the channel until the guard ends it (nil) or the machine cannot go on (an error: the caller prints it
// as the last line on standard error and exits with a failure). It changes the whole process: the environment is emptied and
// after the start nothing can be opened, so the caller does nothing else afterwards. ctx carries values only; closing the
// channel is what ends Main.
func Main(ctx context.Context, opts Options) error {
	began := time.Now()
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.HeapBytes == 0 {
		opts.HeapBytes = limits.VMHeapDefault
	}
	if opts.HeapBytes < limits.VMHeapLeast || opts.HeapBytes > limits.VMHeapMax {
		return fmt.Errorf("heap of %d bytes is outside %d to %d", opts.HeapBytes, limits.VMHeapLeast, limits.VMHeapMax)
	}
	// The signal at the parent's death belongs to the thread that asked for it.
	runtime.LockOSThread()
	cores := min(runtime.NumCPU(), runtime.GOMAXPROCS(0))
	if runtime.GOMAXPROCS(0) < 2 {
		runtime.GOMAXPROCS(2) // a tight loop in the engine must not keep the collector's other half from running
	}
	box := newSandbox()
	box.early()
	ch, err := openChannel(opts.FD, cores)
	if err != nil {
		return err
	}
	m, err := newMachine(ctx, opts, ch)
	if err != nil {
		return err
	}
	box.close(opts.HeapBytes)
	opts.Log.Debug("machine is ready", "sandbox", box.active, "missing", box.missing)
	ready := frame.Ready{
		Engine: EngineVersion, Sandbox: box.active, Missing: box.missing,
		BootUS: time.Since(began).Microseconds(), HeapBytes: uint64(opts.HeapBytes), Shared: ch.mem != nil,
	}
	if err := ch.send(ready); err != nil {
		return ending(err)
	}
	ch.share()
	if err := m.serve(); err != nil {
		return firstLine(err)
	}
	return m.close()
}

// firstLine cuts the engine's stack trace off an error: the guard shows one line.
func firstLine(err error) error {
	line, _, more := strings.Cut(err.Error(), "\n")
	if !more {
		return err
	}
	return errors.New(strings.TrimSuffix(line, " (recovered by wazero)"))
}
