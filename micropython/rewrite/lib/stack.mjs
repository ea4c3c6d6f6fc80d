// Third stage, after pointers have been spilled: C stack checks, and fuel at loop heads.
//
// The checks are placed so that their sufficiency is a property of the call graph, worked out here and asserted:
//  - without the checked functions the graph has no cycle, so no recursion escapes a check;
//  - every cycle contains a function that takes C stack, so none can go on for ever above the limit;
//  - the longest way between two checks fits under the hard limit, where a check traps.

import { STACK } from './edits.mjs';
import { allEdges } from './graph.mjs';
import { UNMETERED } from './quick.mjs';
import { match, parse, walk } from './sexpr.mjs';
import { leaveWhenUnwinding, statements } from './unwind.mjs';
import { bodyStart, components, signature } from './wat.mjs';

const MIN_FRAME = 16; // bytes; C keeps the stack pointer on multiples of 16

/** Adds the frames of the spill pass, a set of the stack pointer at a function's start, to the sizes. */
function addSpillFrames(wat, places, sizes) {
  const pattern = parse(`(global.set ${places.sp} (i32.sub (local.get ?old) (i32.const ?n)))`);
  const total = new Map(sizes);
  for (const [name, func] of wat.funcs) {
    const found = spillFrame(func, pattern);
    total.set(name, (sizes.get(name) ?? 0) + found);
  }
  return total;
}

function spillFrame(func, pattern) {
  let block = func;
  let start = bodyStart(func);
  for (;;) {
    const head = block.slice(start, start + 3);
    for (const statement of head) {
      const found = Array.isArray(statement) && match(pattern, statement);
      if (found) return Number(found.n);
    }
    const inner = head.find((s) => Array.isArray(s) && s[0] === 'block');
    if (!inner) return 0;
    block = inner;
    start = 1;
  }
}

/** Members of cycles among the functions that take no stack: there a checked one has to take some. */
function needFrames(edges, sizes, checked) {
  const frameless = new Map([...edges].filter(([name]) => (sizes.get(name) ?? 0) === 0));
  const need = [];
  for (const part of components(frameless)) {
    if (part.length === 1 && !frameless.get(part[0]).has(part[0])) continue;
    need.push(...part.filter((name) => checked.has(name)));
  }
  return need;
}

/** Bytes that can be taken after a check before the next one; throws when recursion needs no check at all. */
function longestUnchecked(edges, sizes, checked) {
  const open = new Map([...edges].filter(([name]) => !checked.has(name)));
  const deepest = new Map();
  const below = (name) => Math.max(0, ...[...edges.get(name)].map((next) => deepest.get(next) ?? 0));
  for (const part of components(open)) {
    if (part.length > 1 || open.get(part[0]).has(part[0])) throw new Error(`unchecked recursion: ${part.join(' ')}`);
    deepest.set(part[0], (sizes.get(part[0]) ?? 0) + below(part[0]));
  }
  return Math.max(0, ...[...checked].map((name) => sizes.get(name) + below(name)));
}

/** Moves a function's code into one of its own name with a suffix; the old one takes a frame and calls it. */
function giveFrame(wat, places, name) {
  const func = wat.funcs.get(name);
  const { params, results } = signature(func);
  const inner = `${name}.body`;
  const copy = [...func];
  copy[1] = inner;
  const call = `(call ${inner} ${params.map((_, i) => `(local.get $p${i})`).join(' ')})`;
  const parts = [...params.map((t, i) => `(param $p${i} ${t})`), ...results.map((t) => `(result ${t})`)];
  const code = parse(`(func ${name} ${parts.join(' ')}
    ${results.map((t) => `(local $r ${t})`).join(' ')}
    (global.set ${places.sp} (i32.sub (global.get ${places.sp}) (i32.const ${MIN_FRAME})))
    ${results.length > 0 ? `(local.set $r ${call})` : call}
    (global.set ${places.sp} (i32.add (global.get ${places.sp}) (i32.const ${MIN_FRAME})))
    ${results.length > 0 ? '(local.get $r)' : ''})`);
  func.splice(0, Infinity, ...code);
  const at = wat.root.indexOf(func);
  wat.root.splice(at + 1, 0, copy);
  wat.funcs.set(inner, copy);
}

function addEntryCheck(func, places) {
  const leave = leaveWhenUnwinding(signature(func).results);
  func.splice(bodyStart(func), 0,
    ['if', ['i32.lt_s', ['global.get', places.sp], ['global.get', '$pal_soft_limit']],
      ['then', ['call', '$pal_overflow'], leave]]);
}

/** Fuel: one unit for each turn of a loop and each call of a checked function. */
function addFuel(wat, checked) {
  const burn = statements(`(global.set $pal_fuel (i32.sub (global.get $pal_fuel) (i32.const 1)))
    (if (i32.le_s (global.get $pal_fuel) (i32.const 0)) (then (call $pal_refuel)))`);
  let loops = 0;
  for (const [name, func] of wat.funcs) {
    if (UNMETERED.has(name)) continue;
    walk(func, (n) => {
      if (n[0] !== 'loop') return;
      let at = 1;
      while (typeof n[at] === 'string' || n[at][0] === 'result') at++;
      n.splice(at, 0, ...structuredClone(burn));
      loops++;
    });
    if (checked.has(name)) func.splice(bodyStart(func), 0, ...structuredClone(burn));
  }
  return loops;
}

/** Does the third stage; returns counts for the log. */
export function guardStack(wat, places, { checked, sizes }) {
  const graph = wat.callGraph();
  const edges = allEdges(wat, graph);
  const total = addSpillFrames(wat, places, sizes);
  const forced = needFrames(edges, total, checked);
  for (const name of forced) total.set(name, MIN_FRAME);
  if (needFrames(edges, total, checked).length > 0) throw new Error('recursion without C stack is left');
  const reserve = longestUnchecked(edges, total, checked);
  const room = STACK.size - STACK.hard;
  if (reserve > room) throw new Error(`${reserve} bytes of C stack can be taken without a check, only ${room} are kept for that`);
  const loops = addFuel(wat, checked);
  for (const name of checked) addEntryCheck(wat.funcs.get(name), places);
  for (const name of forced) giveFrame(wat, places, name);
  return { loops, checked: checked.size, forced: forced.length, reserve };
}
