package micropython

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/experimental/table"

	"github.com/pal-terminal/pal/limits"
)

// EngineVersion is the MicroPython release that the embedded engine was made from.
const EngineVersion = "1.27.0"

const (
	engineFile   = "engine/engine.wasm"
	fuelPerTick  = 100_000 // the engine sets pal_fuel to this before each pal.tick
	pystackWords = 16_384
	pageBytes    = 64 << 10
	basePages    = 259 // what the engine file starts with
	sparePages   = 64  // beyond the Python heap: source text and answers on their way in, 4 MiB
)

// The folder holds a README, so that a build without the generated file compiles and can say what to run.
//
//go:embed engine
var engineFolder embed.FS

// errNoEngine is what a build without the engine says.
var errNoEngine = errors.New("this build has no MicroPython engine: run `make build` (or `cd micropython/rewrite && npm ci && npm run build`, then build pal again)")

// Available reports nil when the MicroPython engine is part of this build, else what to run to get it.
func Available() error {
	if _, err := fs.Stat(engineFolder, engineFile); err != nil {
		return errNoEngine
	}
	return nil
}

// engine is one booted MicroPython: handles on the wasm module, obtained once. It is not safe for concurrent use, and a
// function handle must not be used again while it runs.
type engine struct {
	runtime wazero.Runtime
	mod     api.Module
	mem     api.Memory

	malloc, free, proxyCall, proxyFree, keyboard api.Function

	schedule api.Function // (callable, argument) on the engine's scheduler; nil until linkScheduler

	fuel, unwinding api.Global
	maxBytes        uint64
	linear          []byte    // the module's memory: allocated once, so that it never moves and never outgrows maxBytes
	args            [4]uint64 // CallWithStack's stack, reused
}

// startEngine compiles the engine (or loads it from cacheDir; "" or an unusable folder compiles), links the imports of m
// and boots MicroPython with a heap of heapBytes.
func startEngine(ctx context.Context, cacheDir string, heapBytes int, m *machine) (*engine, error) {
	code, err := engineFolder.ReadFile(engineFile)
	if err != nil {
		return nil, errNoEngine
	}
	e := &engine{maxBytes: uint64(basePages+sparePages+(heapBytes+pageBytes-1)/pageBytes) * pageBytes}
	ctx = experimental.WithMemoryAllocator(ctx, e)
	cfg := wazero.NewRuntimeConfigCompiler()
	if cache := openCache(cacheDir); cache != nil {
		cfg = cfg.WithCompilationCache(cache)
	}
	e.runtime = wazero.NewRuntimeWithConfig(ctx, cfg)
	m.eng = e
	if err := e.link(ctx, code, m); err != nil {
		return nil, errors.Join(err, e.runtime.Close(ctx))
	}
	if err := e.boot(ctx, heapBytes); err != nil {
		return nil, errors.Join(err, e.runtime.Close(ctx))
	}
	return e, nil
}

// openCache returns nil when dir cannot be used: a VM without a cache starts slower, which beats not starting.
func openCache(dir string) wazero.CompilationCache {
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return nil
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil
	}
	return cache
}

func (e *engine) link(ctx context.Context, code []byte, m *machine) error {
	compiled, err := e.runtime.CompileModule(ctx, code)
	if err != nil {
		return fmt.Errorf("compile the engine: %w", err)
	}
	hosts := map[string]wazero.HostModuleBuilder{}
	table := imports(m)
	for _, f := range compiled.ImportedFunctions() {
		mod, name, _ := f.Import()
		fn := table[name]
		if fn == nil {
			fn = unsupported(len(f.ResultTypes()) > 0)
		}
		if hosts[mod] == nil {
			hosts[mod] = e.runtime.NewHostModuleBuilder(mod)
		}
		hosts[mod].NewFunctionBuilder().
			WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, _ api.Module, stack []uint64) { fn(stack) }), f.ParamTypes(), f.ResultTypes()).
			Export(name)
	}
	for name, h := range hosts {
		if _, err := h.Instantiate(ctx); err != nil {
			return fmt.Errorf("link %s: %w", name, err)
		}
	}
	e.mod, err = e.runtime.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return fmt.Errorf("instantiate the engine: %w", err)
	}
	e.mem = e.mod.Memory()
	for name, f := range map[string]*api.Function{
		"malloc": &e.malloc, "free": &e.free, "proxy_c_to_js_call": &e.proxyCall,
		"proxy_c_free_obj": &e.proxyFree, "mp_sched_keyboard_interrupt": &e.keyboard,
	} {
		if *f = e.mod.ExportedFunction(name); *f == nil {
			return fmt.Errorf("the engine does not export %s", name)
		}
	}
	for name, g := range map[string]*api.Global{"pal_fuel": &e.fuel, "pal_unwinding": &e.unwinding} {
		if *g = e.mod.ExportedGlobal(name); *g == nil {
			return fmt.Errorf("the engine does not export %s", name)
		}
	}
	return nil
}

func (e *engine) boot(ctx context.Context, heapBytes int) error {
	if err := e.callByName(ctx, "emscripten_stack_init"); err != nil {
		return err
	}
	if err := e.callByName(ctx, "__wasm_call_ctors"); err != nil {
		return err
	}
	stack, err := e.alloc(ctx, limits.VMStackBytes+16)
	if err != nil {
		return err
	}
	stack = (stack + 15) &^ 15 // C wants 16 bytes; mp_js_init hangs otherwise
	set := map[string]uint32{"pal_stack_top": stack + limits.VMStackBytes, "pal_stack_pointer": stack + limits.VMStackBytes}
	for name, v := range set {
		g, ok := e.mod.ExportedGlobal(name).(api.MutableGlobal)
		if !ok {
			return fmt.Errorf("the engine does not export %s as a variable", name)
		}
		g.Set(uint64(v))
	}
	if err := e.callByName(ctx, "mp_js_init", pystackWords, uint64(heapBytes)); err != nil {
		return err
	}
	return e.callByName(ctx, "proxy_c_init")
}

func (e *engine) callByName(ctx context.Context, name string, args ...uint64) error {
	f := e.mod.ExportedFunction(name)
	if f == nil {
		return fmt.Errorf("the engine does not export %s", name)
	}
	if _, err := f.Call(ctx, args...); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (e *engine) alloc(ctx context.Context, n int) (uint32, error) {
	e.args[0] = uint64(n)
	if err := e.malloc.CallWithStack(ctx, e.args[:]); err != nil {
		return 0, fmt.Errorf("malloc: %w", err)
	}
	p := uint32(e.args[0])
	if p == 0 {
		return 0, fmt.Errorf("malloc of %d bytes: out of memory", n)
	}
	return p, nil
}

func (e *engine) release(ctx context.Context, p uint32) error {
	e.args[0] = uint64(p)
	return e.free.CallWithStack(ctx, e.args[:])
}

// exec runs source in the engine's own __main__; used once, to start the driver.
func (e *engine) exec(ctx context.Context, source string) error {
	src, err := e.alloc(ctx, len(source)+1+recordBytes)
	if err != nil {
		return err
	}
	out := (src + uint32(len(source)) + 4) &^ 3
	e.mem.WriteString(src, source)
	e.mem.WriteByte(src+uint32(len(source)), 0)
	if err := e.callByName(ctx, "mp_js_do_exec", uint64(src), uint64(len(source)), uint64(out)); err != nil {
		return err
	}
	if r := e.record(out); r.kind == fromException {
		return errors.New(string(r.text(e.mem)))
	}
	return e.release(ctx, src)
}

// linkScheduler finds the engine's way to queue a callback that runs between bytecodes: the C function behind
// micropython.schedule, whose function object is at builtin. It sets flags, allocates nothing while there is room in its queue,
// and raises when there is none.
func (e *engine) linkScheduler(builtin uint32) error {
	index, ok := e.mem.ReadUint32Le(builtin + 4)
	if !ok {
		return errors.New("micropython.schedule is not where it should be")
	}
	i32 := []api.ValueType{api.ValueTypeI32}
	e.schedule = table.LookupFunction(e.mod, 0, index, []api.ValueType{api.ValueTypeI32, api.ValueTypeI32}, i32)
	return nil
}

// fuelLeft is what remains until the next tick.
func (e *engine) fuelLeft() int64 { return int64(int32(e.fuel.Get())) }

func (e *engine) close(ctx context.Context) error { return e.runtime.Close(ctx) }

// grow serves emscripten_resize_heap.
func (e *engine) grow(bytes uint32) bool {
	have := uint64(e.mem.Size())
	if uint64(bytes) > e.maxBytes {
		return false
	}
	if uint64(bytes) <= have {
		return true
	}
	_, ok := e.mem.Grow(uint32((uint64(bytes) - have + pageBytes - 1) / pageBytes))
	return ok
}

// Allocate makes the engine's linear memory; part of experimental.MemoryAllocator.
func (e *engine) Allocate(_, _ uint64) experimental.LinearMemory {
	e.linear = make([]byte, 0, e.maxBytes)
	return e
}

// Reallocate answers the memory at its new size, nil past the limit; part of experimental.LinearMemory.
func (e *engine) Reallocate(size uint64) []byte {
	if size > e.maxBytes {
		return nil
	}
	e.linear = e.linear[:size]
	return e.linear
}

// Free is part of experimental.LinearMemory.
func (e *engine) Free() { e.linear = nil }
