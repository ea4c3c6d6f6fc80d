// First stage: the edits of the stock file's own functions. What they add is written here as WebAssembly text.

import { quicken } from './quick.mjs';
import { match, parse, walk } from './sexpr.mjs';
import { findShortcuts } from './shortcuts.mjs';
import { bodyStart } from './wat.mjs';

// Bytes of C stack, counted from its top, that the host allocates as one block of stackSize (see ../../engine/README.md).
export const STACK = {
  size: 512 << 10,
  python: 400 << 10, // MicroPython's own check raises RuntimeError here
  soft: 432 << 10, // the rewrite's check raises RuntimeError here
  hard: 480 << 10, // below this the check traps: only reached while an exception is being made or garbage collected
};

// Loop turns and calls between two ticks: 0.1 to 2 ms of work.
export const FUEL = 100_000;

// Bytes of the heap kept for the text of an exception that ended a program: about 200 lines of traceback.
const REPORT_BYTES = 16 << 10;
const SHORT_REPORT_BYTES = 4 << 10;
const ROOM_BYTES = 8 << 10; // what must be free besides, for the program itself

const NO_HANDLER = 1; // never an address of a handler

/** Names, exports and globals that the other edits refer to. */
function globals(places) {
  const exported = [['unwinding', 0], ['stack_top', 65536], ['fuel', FUEL]];
  const hidden = [['reserve', 0], ['waiting', 0], ['soft_limit', 0], ['hard_limit', 0],
    ['gc_handler', NO_HANDLER], ['raise_handler', NO_HANDLER]];
  return exported.map(([name, value]) => `(global $pal_${name} (mut i32) (i32.const ${value}))
      (export "pal_${name}" (global $pal_${name}))`).join(' ')
    + hidden.map(([name, value]) => `(global $pal_${name} (mut i32) (i32.const ${value}))`).join(' ')
    + `(export "pal_stack_pointer" (global ${places.sp}))`;
}

// The spill pass of Binaryen knows the stack pointer by this name only.
function renameStackPointer(wat, places) {
  const from = places.sp;
  const to = '$__stack_pointer';
  walk(wat.root, (n) => {
    if (n[0].startsWith?.('global') && n[1] === from) n[1] = to;
  });
  places.sp = to;
}

/**
 * invoke_* and longjmp become functions of the module. A throw sets a flag; every function on the way returns when it sees the
 * flag (unwind.mjs adds that); these wrappers clear it, as the JavaScript ones catch the exception. A call whose target is
 * known gets a wrapper of its own with a direct call.
 */
function catchInside(wat, places) {
  const wrappers = new Map();
  const wrapper = (name, types, results, call) => {
    if (wrappers.has(name)) return;
    const params = types.map((type, i) => `(param $p${i} ${type})`).join(' ');
    wrappers.set(name, `(func ${name} ${params} ${results.map((r) => `(result ${r})`).join('')}
      (local $sp i32) ${results.map((r) => `(local $r ${r})`).join('')}
      (local.set $sp (global.get ${places.sp}))
      ${results.length > 0 ? `(local.set $r ${call})` : call}
      (if (global.get $pal_unwinding) (then
        (global.set $pal_unwinding (i32.const 0))
        (global.set ${places.sp} (local.get $sp))
        (call ${places.setThrew} (i32.const 1) (i32.const 0))))
      ${results.length > 0 ? '(local.get $r)' : ''})`);
  };
  const table = wat.root.find((field) => field[0] === 'table')[1];
  for (const name of places.invokes) {
    const { params, results } = wat.signatureOf(name);
    const inner = params.slice(1);
    const values = inner.map((_, i) => `(local.get $p${i + 1})`).join(' ');
    wrapper(`$pal_catch${name}`, params, results, `(call_indirect ${table} ${inner.map((t) => `(param ${t})`).join(' ')}
      ${results.map((r) => `(result ${r})`).join('')} ${values} (local.get $p0))`);
  }
  walk(wat.root, (n) => {
    if (n[0] !== 'call') return;
    if (n[1] === places.throwImport) n[1] = '$pal_throw';
    if (!places.invokes.includes(n[1])) return;
    const target = match(['i32.const', '?k'], n[2]) && wat.table[Number(n[2][1])];
    if (!target) {
      n[1] = `$pal_catch${n[1]}`;
      return;
    }
    const { params, results } = wat.signatureOf(target);
    wrapper(`$pal_catch_${target}`, params, results,
      `(call ${target} ${params.map((_, i) => `(local.get $p${i})`).join(' ')})`);
    n.splice(1, 2, `$pal_catch_${target}`);
  });
  for (const name of [...places.invokes, places.throwImport]) wat.dropImport(name);
  wat.add(`(func $pal_throw
      (global.set $pal_unwinding (i32.const 1))
      (global.set $pal_raise_handler (i32.const ${NO_HANDLER})))
    ${[...wrappers.values()].join('\n')}`);
}

/**
 * An exception that no handler of the program caught is written as text after the last handler is gone, in MicroPython's own
 * heap. With a full heap the stock engine then loops for ever in nlr_jump_fail. So mp_js_do_exec sets a block aside, the
 * collector lets it go when there is no handler, and nlr_jump_fail traps should even that be too little. A smaller block, or
 * none, is taken when the heap is still full of what an earlier program left in its globals, so that a program can clear them.
 */
function reserveForReports(wat, places) {
  const run = wat.exported('mp_js_do_exec');
  const take = (bytes, otherwise) => `(if (call ${places.allocate} (i32.const ${bytes + ROOM_BYTES}) (i32.const 0))
    (then (global.set $pal_reserve (call ${places.allocate} (i32.const ${bytes}) (i32.const 0))))
    ${otherwise ? `(else ${otherwise})` : ''})`;
  run.splice(bodyStart(run), 0, parse(`(if (i32.eqz (global.get $pal_reserve))
    (then ${take(REPORT_BYTES, take(SHORT_REPORT_BYTES))}))`));
  const fail = wat.funcs.get(places.nlrJumpFail);
  fail.splice(bodyStart(fail), Infinity, ['unreachable']);
}

/** gc_collect collects: roots, then every word of the C stack that is the address of a block in use, then the sweep. */
function collect(wat, places) {
  const func = wat.funcs.get(places.collect);
  func.splice(bodyStart(func), Infinity, ...parse(`(code
    (global.set $pal_gc_handler (i32.load (i32.const ${places.nlrTop})))
    (if (i32.eqz (global.get $pal_gc_handler)) (then (global.set $pal_reserve (i32.const 0))))
    (global.set ${places.sp} (i32.sub (global.get ${places.sp}) (i32.const 16)))
    (i32.store (global.get ${places.sp}) (global.get $pal_reserve))
    (call ${places.collectStart})
    (call $pal_scan (i32.and (global.get ${places.sp}) (i32.const -4)) (global.get $pal_stack_top))
    (global.set ${places.sp} (i32.add (global.get ${places.sp}) (i32.const 16)))
    (call ${places.collectEnd})
    (global.set $pal_gc_handler (i32.const ${NO_HANDLER})))`).slice(1));
  // An area holds: next (0), the table of two bits a block (4), first (16) and end (20) of its blocks of 16 bytes. In the
  // table 1 is the head of a block in use and 3 a marked head.
  wat.add(`(func $pal_scan (param $p i32) (param $end i32)
    (local $v i32) (local $area i32) (local $off i32) (local $entry i32) (local $shift i32) (local $byte i32)
    (loop $next
     (if (i32.ge_u (local.get $p) (local.get $end)) (then (return)))
     (local.set $v (i32.load (local.get $p)))
     (local.set $p (i32.add (local.get $p) (i32.const 4)))
     (br_if $next (i32.and (local.get $v) (i32.const 15)))
     (local.set $area (i32.const ${places.area}))
     (block $found
      (loop $areas
       (br_if $found (i32.and (i32.ge_u (local.get $v) (i32.load offset=16 (local.get $area)))
                              (i32.lt_u (local.get $v) (i32.load offset=20 (local.get $area)))))
       (br_if $areas (local.tee $area (i32.load (local.get $area)))))
      (br $next))
     (local.set $off (i32.sub (local.get $v) (i32.load offset=16 (local.get $area))))
     (local.set $entry (i32.add (i32.load offset=4 (local.get $area)) (i32.shr_u (local.get $off) (i32.const 6))))
     (local.set $byte (i32.load8_u (local.get $entry)))
     (local.set $shift (i32.and (i32.shr_u (local.get $off) (i32.const 3)) (i32.const 6)))
     (br_if $next (i32.ne (i32.and (i32.shr_u (local.get $byte) (local.get $shift)) (i32.const 3)) (i32.const 1)))
     (i32.store8 (local.get $entry) (i32.or (local.get $byte) (i32.shl (i32.const 3) (local.get $shift))))
     (call ${places.mark} (local.get $area) (i32.shr_u (local.get $off) (i32.const 4)))
     (br $next)))`);
}

/** The heap stays as mp_js_init made it: no further area may be added. */
function fixHeap(wat, places) {
  const func = places.maxNewSplit;
  func.splice(bodyStart(func), Infinity, ['i32.const', '0']);
}

/** MicroPython is told of the larger stack, and mp_js_init works out the two limits of the rewrite's own check. */
function raiseLimits(wat, places) {
  places.limitCall[2] = ['i32.const', String(STACK.python)];
  const init = wat.exported('mp_js_init');
  init.splice(bodyStart(init), 0, ...['soft', 'hard'].map((name) => parse(
    `(global.set $pal_${name}_limit (i32.sub (global.get $pal_stack_top) (i32.const ${STACK[name]})))`)));
  // Called when the stack pointer is below the soft limit, which may have been raised to interrupt (see tick). No exception may
  // leave the collector or the making of an exception, unless a handler was set since it began: there the stack may be used
  // down to the hard limit. Compared with sign, so that a wrapped address counts as too low.
  wat.add(`(func $pal_overflow (local $top i32) (local $pending i32)
     (if (i32.lt_s (global.get ${places.sp}) (global.get $pal_hard_limit)) (then (unreachable)))
     (global.set $pal_soft_limit (i32.sub (global.get $pal_stack_top) (i32.const ${STACK.soft})))
     (local.set $top (i32.load (i32.const ${places.nlrTop})))
     (if (i32.eqz (local.get $top)) (then (return)))
     (if (i32.eq (local.get $top) (global.get $pal_gc_handler)) (then (return)))
     (if (i32.eq (local.get $top) (global.get $pal_raise_handler)) (then (return)))
     (if (i32.lt_s (global.get ${places.sp}) (global.get $pal_soft_limit)) (then
       (global.set $pal_raise_handler (local.get $top))
       (call ${places.recursionError})
       (return)))
     (local.set $pending (i32.load (i32.const ${places.pending})))
     (if (i32.eqz (local.get $pending)) (then (return)))
     (i32.store (i32.const ${places.pending}) (i32.const 0))
     (call ${places.nlrJump} (local.get $pending)))
    (func $pal_alloca (param $to i32) (result i32)
     (if (i32.lt_s (local.get $to) (global.get $pal_soft_limit)) (then
       (call $pal_overflow)
       (if (i32.lt_s (local.get $to) (global.get $pal_hard_limit)) (then (unreachable)))))
     (local.get $to))`);
}

/** Arrays of variable length: the new stack pointer is checked before it is set, because it may skip any reserve. */
function checkAlloca(wat, places) {
  let count = 0;
  for (const func of wat.funcs.values()) {
    walk(func, (n) => {
      if (n[0] !== 'global.set' || n[1] !== places.sp) return;
      if (!variableSize(n[2])) return;
      n[2] = ['call', '$pal_alloca', n[2]];
      count++;
    });
  }
  return count;
}

function variableSize(value) {
  let node = value;
  while (node[0] === 'local.tee') node = node[2];
  return node[0] === 'i32.sub' && node[2][0] !== 'i32.const';
}

/** Fixed bytes of C stack that each function takes: name -> bytes. */
function frames(wat, places) {
  const sizes = new Map();
  for (const [name, func] of wat.funcs) {
    let size = 0;
    walk(func, (n) => {
      const found = match(parse(`(i32.sub (global.get ${places.sp}) (i32.const ?n))`), n);
      if (found) size += Number(found.n);
    });
    sizes.set(name, size);
  }
  return sizes;
}

/**
 * Refuel asks the host for its say. MicroPython itself looks for a pending KeyboardInterrupt between bytecodes only. One that
 * still waits at the second tick is raised from C, sum(range(10**9)) for one, by making the next stack check fail: those are
 * places where an exception is possible anyway.
 */
function tick(wat, places) {
  wat.add(`(import "pal" "tick" (func $pal_tick))
    (func $pal_refuel
     (global.set $pal_fuel (i32.add (global.get $pal_fuel) (i32.const ${FUEL})))
     (call $pal_tick)
     (if (i32.eqz (i32.load (i32.const ${places.pending}))) (then
       (global.set $pal_waiting (i32.const 0))
       (return)))
     (if (global.get $pal_waiting) (then (global.set $pal_soft_limit (i32.const 0x7fffffff))))
     (global.set $pal_waiting (i32.const 1)))`);
}

/** Does all edits of the first stage; returns the frame sizes of the functions. */
export function edit(wat, places) {
  const shortcuts = findShortcuts(wat, places);
  renameStackPointer(wat, places);
  wat.add(globals(places));
  tick(wat, places);
  const sizes = frames(wat, places);
  const variable = checkAlloca(wat, places);
  catchInside(wat, places);
  collect(wat, places);
  reserveForReports(wat, places);
  fixHeap(wat, places);
  raiseLimits(wat, places);
  quicken(wat, shortcuts);
  return { sizes, variable };
}
