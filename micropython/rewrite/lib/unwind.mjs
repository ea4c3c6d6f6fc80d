// Second stage, on flattened code: every call that may throw is followed by a look at the unwinding flag.
//
// Flattening matters twice. A call is then a statement of its own or the whole value of a local.set, so that the test can follow
// it; and no value waits on the operand stack across a call, where the collector could not see it.

import { checkedFunctions, collecting, isCatch, throwing } from './graph.mjs';
import { match, parse, walk } from './sexpr.mjs';
import { bodyStart, signature, zero } from './wat.mjs';

const CALLS = new Set(['call', 'call_indirect']);
const LISTS = new Set(['block', 'loop', 'then', 'else']);

/** The instructions that leave a function whose callee has thrown. */
export function leaveWhenUnwinding(results) {
  return ['if', ['global.get', '$pal_unwinding'], ['then', ['return', ...results.map(zero)]]];
}

function isCall(node) {
  return Array.isArray(node) && CALLS.has(node[0]);
}

/** The call that a statement makes, if any. */
function callOf(statement) {
  if (!Array.isArray(statement)) return null;
  if (isCall(statement)) return statement;
  if (statement[0] === 'local.set' && isCall(statement[2])) return statement[2];
  if (statement[0] === 'drop' && isCall(statement[1])) return statement[1];
  return null;
}

function addTests(func, mayThrow) {
  const leave = leaveWhenUnwinding(signature(func).results);
  let seen = 0;
  let added = 0;
  const visit = (list, start) => {
    for (let i = start; i < list.length; i++) {
      const statement = list[i];
      if (!Array.isArray(statement)) continue;
      const call = callOf(statement);
      if (call) {
        seen++;
        if (call[0] === 'call' && !mayThrow.has(call[1])) continue;
        list.splice(++i, 0, leave);
        added++;
      } else if (statement[0] === 'if') {
        for (const arm of statement) if (Array.isArray(arm) && LISTS.has(arm[0])) visit(arm, 1);
      } else if (LISTS.has(statement[0])) {
        visit(statement, 1);
      }
    }
  };
  visit(func, bodyStart(func));
  let calls = 0;
  walk(func, (n) => { if (isCall(n)) calls++; });
  if (calls !== seen) throw new Error(`function ${func[1]} has ${calls - seen} calls inside expressions after flattening`);
  return added;
}

/**
 * Hides a call from the spill pass by writing it as a call of a reference: nothing can be collected during it, so the
 * pointers need not be on the stack. showCalls turns them back.
 */
function hideCalls(wat, mayCollect) {
  const types = new Map();
  let hidden = 0;
  for (const func of wat.funcs.values()) {
    walk(func, (n) => {
      if (n[0] !== 'call' || mayCollect.has(n[1])) return;
      const { params, results } = wat.signatureOf(n[1]);
      const key = `$pal_type_${params.join('_')}_to_${results.join('_')}`;
      if (!types.has(key)) {
        const parts = [...params.map((t) => `(param ${t})`), ...results.map((t) => `(result ${t})`)];
        types.set(key, `(type ${key} (func ${parts.join(' ')}))`);
      }
      n.splice(0, n.length, 'call_ref', key, ...n.slice(2), ['ref.func', n[1]]);
      hidden++;
    });
  }
  wat.add([...types.values()].join(' '));
  return hidden;
}

/** Undoes hideCalls. */
export function showCalls(wat) {
  for (const func of wat.funcs.values()) {
    walk(func, (n) => {
      if (n[0] !== 'call_ref') return;
      const target = n.at(-1);
      if (!match(['ref.func', '?f'], target)) throw new Error(`a hidden call in ${func[1]} lost its function`);
      n.splice(0, n.length, 'call', target[1], ...n.slice(2, -1));
    });
  }
  const declared = wat.root.findIndex((f) => f[0] === 'elem' && f.includes('declare'));
  if (declared >= 0) wat.root.splice(declared, 1);
}

/** Does the second stage; returns the functions whose entry stack.mjs has to check, and counts for the log. */
export function unwind(wat, places) {
  const graph = wat.callGraph();
  const checked = checkedFunctions(graph);
  for (const name of [wat.exported('malloc')[1], wat.exported('free')[1], places.collectStart]) {
    if (checked.has(name)) throw new Error(`${name} takes part in recursion: an exception could leave the allocator half-way`);
  }
  const mayThrow = throwing(graph, checked);
  let tests = 0;
  for (const [name, func] of wat.funcs) {
    if (!isCatch(name)) tests += addTests(func, mayThrow);
  }
  const hidden = hideCalls(wat, collecting(wat, graph, places.collect));
  return { checked, tests, hidden };
}

/** A statement list from text, for the other stages. */
export function statements(text) {
  return parse(`(code ${text})`).slice(1);
}
