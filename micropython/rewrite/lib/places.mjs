// Finds the places of the stock file that the rewrite changes, by what they do and who calls them, never by number.
// Each search must give exactly one answer; anything else stops the build with a sentence that names the search.

import { match, matches, parse, print, walk } from './sexpr.mjs';
import { body, signature } from './wat.mjs';

export function only(what, found) {
  if (found.length === 1) return found[0];
  const many = found.length === 0 ? 'nothing' : `${found.length} places`;
  throw new Error(`looking for ${what}: expected exactly one place, found ${many}; the engine file is not built as expected`);
}

export function distinct(values) {
  return [...new Set(values)];
}

export function bodyMatches(func, ...patterns) {
  const found = {};
  const code = body(func);
  if (code.length !== patterns.length) return null;
  return patterns.every((p, i) => match(parse(p), code[i], found)) ? found : null;
}

export function offset(atom) {
  return Number(atom.replace('offset=', ''));
}

function callees(func) {
  const all = [];
  walk(func, (n) => { if (n[0] === 'call') all.push(n[1]); });
  return all;
}

export function callersOf(wat, name) {
  return [...wat.funcs.values()].filter((func) => callees(func).includes(name));
}

/** The global that LLVM uses as the C stack pointer: the one that emscripten_stack_get_current returns. */
function stackPointer(wat) {
  const found = bodyMatches(wat.exported('emscripten_stack_get_current'), '(global.get ?sp)');
  return only('the stack pointer', found ? [found.sp] : []);
}

/** gc_collect: stores 1 in a byte that gc_collect_top_level reads before it calls gc_collect_start and gc_collect_end. */
function collector(wat) {
  const candidates = [];
  for (const func of wat.funcs.values()) {
    const flag = bodyMatches(func, '(i32.store8 ?flag (i32.const 0) (i32.const 1))')?.flag;
    if (!flag) continue;
    for (const top of wat.funcs.values()) {
      const reads = matches(`(i32.load8_u ${flag} (i32.const 0))`, top);
      const clears = matches(`(i32.store8 ${flag} (i32.const 0) (i32.const 0))`, top);
      const calls = callees(top);
      if (reads.length === 1 && clears.length === 1 && calls.length === 2) {
        candidates.push({ collect: func[1], start: calls[0], end: calls[1] });
      }
    }
  }
  return only('gc_collect, which only sets a flag', candidates);
}

/** gc_mark_subtree and the list of memory areas, both from the body of gc_collect_start. */
function marking(wat, start) {
  const func = wat.funcs.get(start);
  const mark = only('gc_mark_subtree', distinct(callees(func)));
  const { params, results } = wat.signatureOf(mark);
  if (params.join() !== 'i32,i32' || results.length > 0) throw new Error('gc_mark_subtree does not take an area and a block');
  const heads = matches('(local.set ?x (i32.add (i32.const ?base) (i32.const ?offset)))', func);
  const area = only('the first memory area of the heap', distinct(heads.map((h) => Number(h.base) + Number(h.offset))));
  const layout = ['(i32.load offset=16 (local.get ?area))', '(i32.load offset=20 (local.get ?area))',
    '(i32.load offset=4 (local.get ?area))', '(i32.load (local.get ?area))'];
  for (const pattern of layout) {
    if (matches(pattern, func).length === 0) throw new Error(`gc_collect_start never reads ${pattern}: the area has another layout`);
  }
  return { mark, area };
}

/** gc_alloc(bytes, flags): the only function with a result that collects before it gives up. */
function allocate(wat, collect) {
  const found = callersOf(wat, collect).filter((func) => signature(func).params.join() === 'i32,i32'
    && signature(func).results.join() === 'i32');
  return only('gc_alloc', found.map((func) => func[1]));
}

/** gc_get_max_new_split: the only function that consists of this port's constant of 128 MiB. */
function maxNewSplit(wat) {
  const found = [...wat.funcs.values()].filter((func) => signature(func).params.length === 0
    && bodyMatches(func, '(i32.const 134217728)'));
  return only('gc_get_max_new_split', found);
}

/** The constant that mp_js_init hands to mp_cstack_init_with_sp_here, and where that keeps top and limit. */
function stackLimit(wat, sp) {
  const found = [];
  for (const code of body(wat.exported('mp_js_init'))) {
    const call = match(parse('(call ?init (i32.const ?limit))'), code);
    const init = call && wat.funcs.get(call.init);
    const kept = init && matches('(i32.store ?state (i32.const 4) (local.get ?limit))', init);
    if (kept?.length === 1 && matches(`(global.get ${sp})`, init).length === 1) found.push({ call: code, state: kept[0].state });
  }
  return only('the stack limit in mp_js_init', found);
}

/** mp_raise_recursion_depth: what mp_cstack_check calls once the use of the stack is not below the limit. */
function recursionError(wat, state) {
  const found = [];
  for (const func of wat.funcs.values()) {
    const { params, results } = signature(func);
    if (params.length + results.length > 0) continue;
    const compares = matches(`(i32.lt_u (i32.sub (i32.load ${state} (i32.const 0)) ?use) (i32.load ${state} (i32.const 4)))`, func);
    const calls = callees(func);
    if (compares.length === 1 && calls.length === 1) found.push(calls[0]);
  }
  return only('mp_cstack_check', found);
}

/** nlr_jump, and the address of nlr_top, the innermost handler, which it loads first; without a handler it fails. */
function jump(wat, throwImport) {
  const longjmp = only('emscripten_longjmp', callersOf(wat, throwImport))[1];
  const found = [];
  for (const func of callersOf(wat, longjmp)) {
    const first = match(parse(`(block ?end (br_if ?end (local.tee ?top (i32.load ?state (i32.const ?field))))
      (call ?fail (local.get ?value)) (unreachable))`), body(func)[0]);
    if (first && signature(func).params.length === 1) {
      found.push({ nlrJump: func[1], nlrJumpFail: first.fail, nlrTop: offset(first.state) + Number(first.field) });
    }
  }
  const jump = only('nlr_jump', found);
  const fail = wat.funcs.get(jump.nlrJumpFail);
  if (!fail || !bodyMatches(fail, '(loop ?label (br ?label))')) throw new Error('nlr_jump_fail is not an endless loop');
  return jump;
}

/** Address of the pending exception: what mp_sched_keyboard_interrupt sets first. */
function pendingException(wat) {
  const first = match(parse('(i32.store ?state (i32.const ?field) (i32.add (i32.const ?base) (i32.const ?exception)))'),
    body(wat.exported('mp_sched_keyboard_interrupt'))[0]);
  return only('the pending exception', first ? [offset(first.state) + Number(first.field)] : []);
}

/** All places, by name. Throws when one of them is not there exactly once. */
export function findPlaces(wat) {
  const sp = stackPointer(wat);
  const throwImport = wat.importNamed('_emscripten_throw_longjmp');
  const { collect, start, end } = collector(wat);
  const { mark, area } = marking(wat, start);
  const { call, state } = stackLimit(wat, sp);
  const invokes = [...wat.imports].filter(([, imp]) => imp.name.startsWith('invoke_')).map(([name]) => name);
  if (invokes.length === 0) throw new Error('the file imports no invoke_ function');
  return {
    sp,
    throwImport,
    invokes,
    setThrew: wat.exported('setThrew')[1],
    collect,
    collectStart: start,
    collectEnd: end,
    mark,
    allocate: allocate(wat, collect),
    area,
    maxNewSplit: maxNewSplit(wat),
    limitCall: call,
    recursionError: recursionError(wat, state),
    ...jump(wat, throwImport),
    pending: pendingException(wat),
  };
}

/** One line for logs and tests. */
export function describe(places) {
  return Object.entries(places).map(([key, value]) => {
    if (!Array.isArray(value)) return `${key}=${value}`;
    return `${key}=${value[0] === 'func' ? value[1] : print(value)}`;
  }).join(' ');
}
