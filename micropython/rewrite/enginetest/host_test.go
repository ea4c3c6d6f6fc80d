package enginetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

const (
	enginePath  = "../../engine/engine.wasm"
	stackSize   = 512 << 10
	fuelReload  = 100_000
	smallHeap   = 1 << 20
	pystackSize = 16_384
	noSuchFile  = 44     // ENOENT in the engine's numbering
	maxTicks    = 20_000 // about 20 s of work
	memoryPages = 512    // 32 MiB: a leak of a test ends here
)

// shared is compiled once for all tests of the process; each test instantiates its own machine.
var shared = sync.OnceValues(func() (wazero.CompiledModule, error) {
	code, err := os.ReadFile(filepath.FromSlash(enginePath))
	if err != nil {
		return nil, fmt.Errorf("reading the engine (build it with \"npm ci && npm run build\" in micropython/rewrite): %w", err)
	}
	ctx := context.Background()
	sharedRuntime = wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler().WithMemoryLimitPages(memoryPages))
	compiled, err := sharedRuntime.CompileModule(ctx, code)
	if err != nil {
		return nil, fmt.Errorf("compiling the engine: %w", err)
	}
	return compiled, instantiateHosts(ctx, sharedRuntime, compiled)
})

var sharedRuntime wazero.Runtime

// machine is one fresh engine with its host state. It is used by one goroutine.
type machine struct {
	t         testing.TB
	ctx       context.Context
	mod       api.Module
	out       bytes.Buffer
	ticks     int
	execStart int // ticks when the running program began
	onTick    func(m *machine)
}

type machineKey struct{}

func machineOf(ctx context.Context) *machine { return ctx.Value(machineKey{}).(*machine) }

func instantiateHosts(ctx context.Context, rt wazero.Runtime, compiled wazero.CompiledModule) error {
	hosts := map[string]wazero.HostModuleBuilder{}
	for _, f := range compiled.ImportedFunctions() {
		module, name, _ := f.Import()
		if hosts[module] == nil {
			hosts[module] = rt.NewHostModuleBuilder(module)
		}
		hosts[module].NewFunctionBuilder().
			WithGoModuleFunction(hostFunction(name, f), f.ParamTypes(), f.ResultTypes()).Export(name)
	}
	for module, host := range hosts {
		if _, err := host.Instantiate(ctx); err != nil {
			return fmt.Errorf("instantiating host module %s: %w", module, err)
		}
	}
	return nil
}

func hostFunction(name string, def api.FunctionDefinition) api.GoModuleFunc {
	switch name {
	case "tick":
		return func(ctx context.Context, _ api.Module, _ []uint64) {
			m := machineOf(ctx)
			if m.ticks++; m.ticks-m.execStart > maxTicks {
				panic("the program does not end") // a trap of the call, which fails the test
			}
			if m.onTick != nil {
				m.onTick(m)
			}
		}
	case "fd_write":
		return fdWrite
	case "emscripten_resize_heap":
		return func(_ context.Context, mod api.Module, stack []uint64) {
			need := uint32(stack[0])
			pages := (need + 65535) / 65536
			have := mod.Memory().Size() / 65536
			_, ok := mod.Memory().Grow(pages - have)
			stack[0] = 0
			if ok {
				stack[0] = 1
			}
		}
	default: // no clock, no entropy, no files, no objects: every answer is the same, so that runs can be compared
		answer := uint64(0)
		if strings.HasPrefix(name, "__syscall_") {
			answer = api.EncodeI32(-noSuchFile)
		}
		return func(_ context.Context, _ api.Module, stack []uint64) {
			if len(def.ResultTypes()) > 0 {
				stack[0] = answer
			}
		}
	}
}

func fdWrite(ctx context.Context, mod api.Module, stack []uint64) {
	m := machineOf(ctx)
	vectors, count, total := uint32(stack[1]), uint32(stack[2]), uint32(0)
	for k := range count {
		at, _ := mod.Memory().ReadUint32Le(vectors + 8*k)
		n, _ := mod.Memory().ReadUint32Le(vectors + 8*k + 4)
		data, ok := mod.Memory().Read(at, n)
		if !ok {
			m.t.Errorf("fd_write of %d bytes at %#x is outside the memory", n, at)
		}
		m.out.Write(data)
		total += n
	}
	mod.Memory().WriteUint32Le(uint32(stack[3]), total)
	stack[0] = 0
}

// boot starts a fresh engine with a heap of so many bytes.
func boot(t testing.TB, heap int) *machine {
	t.Helper()
	compiled, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t}
	m.ctx = context.WithValue(t.Context(), machineKey{}, m)
	m.mod, err = sharedRuntime.InstantiateModule(m.ctx, compiled, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		t.Fatalf("instantiating the engine: %v", err)
	}
	t.Cleanup(func() {
		if err := m.mod.Close(context.Background()); err != nil {
			t.Errorf("closing the engine: %v", err)
		}
	})
	m.call("emscripten_stack_init")
	m.call("__wasm_call_ctors")
	stack := (m.call("malloc", stackSize+16) + 15) &^ 15
	m.global("pal_stack_top").Set(stack + stackSize)
	m.global("pal_stack_pointer").Set(stack + stackSize)
	m.call("mp_js_init", pystackSize, uint64(heap))
	m.call("proxy_c_init")
	return m
}

func (m *machine) global(name string) api.MutableGlobal {
	return m.mod.ExportedGlobal(name).(api.MutableGlobal)
}

// call enters the engine and fails the test if it traps.
func (m *machine) call(name string, args ...uint64) uint64 {
	m.t.Helper()
	result, err := m.mod.ExportedFunction(name).Call(m.ctx, args...)
	if err != nil {
		m.t.Fatalf("%s: %v", name, err)
	}
	if unwinding := m.global("pal_unwinding").Get(); unwinding != 0 {
		m.t.Fatalf("%s returned while unwinding", name)
	}
	if len(result) == 0 {
		return 0
	}
	return result[0]
}

// errPython is an exception that a program did not catch; its text starts with the class.
var errPython = errors.New("python")

// exec runs a program. It returns what the program printed and its exception, if any, wrapping errPython.
func (m *machine) exec(program string) (string, error) {
	m.t.Helper()
	m.out.Reset()
	m.execStart = m.ticks
	memory := m.mod.Memory()
	source := uint32(m.call("malloc", uint64(len(program)+1)))
	result := uint32(m.call("malloc", 12))
	if source == 0 || result == 0 || !memory.Write(source, append([]byte(program), 0)) {
		m.t.Fatal("no memory for the program")
	}
	top := m.global("pal_stack_pointer").Get()
	m.call("mp_js_do_exec", uint64(source), uint64(len(program)), uint64(result))
	if got := m.global("pal_stack_pointer").Get(); got != top {
		m.t.Errorf("stack pointer after exec: got %#x, want %#x", got, top)
	}
	kind, _ := memory.ReadUint32Le(result)
	n, _ := memory.ReadUint32Le(result + 4)
	at, _ := memory.ReadUint32Le(result + 8)
	m.call("free", uint64(source))
	m.call("free", uint64(result))
	if int32(kind) != -1 {
		return m.out.String(), nil
	}
	text, _ := memory.Read(at, n)
	err := fmt.Errorf("%w: %s", errPython, text)
	m.call("free", uint64(at))
	return m.out.String(), err
}

// fuel is what a program costs, by the rule of the host contract.
func (m *machine) fuel(program string) int {
	m.t.Helper()
	ticks, before := m.ticks, int32(m.global("pal_fuel").Get())
	if _, err := m.exec(program); err != nil {
		m.t.Fatalf("program failed: %v", err)
	}
	return (m.ticks-ticks)*fuelReload + int(before) - int(int32(m.global("pal_fuel").Get()))
}

// wantOutput runs a program that must end without an exception.
func (m *machine) wantOutput(program, want string) {
	m.t.Helper()
	got, err := m.exec(program)
	if err != nil {
		m.t.Fatalf("program failed after printing %q: %v", got, err)
	}
	if strings.TrimRight(got, "\n") != want {
		m.t.Errorf("output:\n got %q\nwant %q", got, want)
	}
}

// wantError runs a program that must end with an exception of that class, and checks that the engine still works.
func (m *machine) wantError(program, class string) {
	m.t.Helper()
	got, err := m.exec(program)
	if err == nil {
		m.t.Fatalf("program ended well after printing %.200q, want %s", got, class)
	}
	if text := err.Error(); !strings.HasPrefix(text, "python: "+class+"\x04") {
		m.t.Fatalf("exception: got %.300q, want class %s", text, class)
	}
	m.wantOutput("print(sum(range(1000)), len([k for k in range(50)]))", "499500 50")
}
