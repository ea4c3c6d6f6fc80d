// The call graph as the later stages need it: who can throw, who can collect garbage, where recursion has to be checked.

import { components, reaching } from './wat.mjs';
import { walk } from './sexpr.mjs';

const CATCH = '$pal_catch';

// Imports that only answer: no code of the engine can run before they return.
const ANSWERING = /^(mp_js_|fd_|__syscall_|emscripten_resize_heap|tick)/;

export function isCatch(name) {
  return name.startsWith(CATCH);
}

/**
 * Functions at whose entry the C stack is checked. Without them no recursion is left: every function of a direct cycle, and every
 * function that calls through the table or through a catching wrapper that does.
 */
export function checkedFunctions(graph) {
  const edges = new Map([...graph].map(([name, node]) => [name, node.calls]));
  const checked = new Set();
  for (const part of components(edges)) {
    if (part.length === 1 && !edges.get(part[0]).has(part[0])) continue;
    for (const name of part) checked.add(name);
  }
  for (const [name, node] of graph) {
    if (node.indirect || [...node.calls].some((callee) => isCatch(callee) && graph.get(callee).indirect)) checked.add(name);
  }
  for (const name of checked) if (name.startsWith('$pal_')) checked.delete(name);
  return checked;
}

/** Functions that may return with the unwinding flag set. */
export function throwing(graph, checked) {
  const catches = new Set([...graph.keys()].filter(isCatch));
  return reaching(graph, ['$pal_throw', '$pal_overflow', ...checked], catches);
}

/** Functions during which a garbage collection can happen. */
export function collecting(wat, graph, collect) {
  const calling = [...wat.imports].filter(([, imp]) => !ANSWERING.test(imp.name)).map(([name]) => name);
  return reaching(graph, [collect, ...calling]);
}

/** All edges, an indirect call going to every function of the table that has the called type. */
export function allEdges(wat, graph) {
  const types = new Map(wat.root.filter((f) => f[0] === 'type').map((f) => [f[1], f[2]]));
  const key = (parts) => parts.filter((p) => Array.isArray(p) && (p[0] === 'param' || p[0] === 'result'))
    .map((p) => `${p[0]} ${p.slice(1).filter((t) => !t.startsWith('$')).join(' ')}`).join(' ');
  const flat = (parts) => key(parts).replaceAll(' param', '').trim();
  const targets = new Map();
  for (const name of new Set(wat.table.filter((n) => n))) {
    const func = wat.funcs.get(name) ?? wat.imports.get(name).func;
    const type = flat(func);
    if (!targets.has(type)) targets.set(type, []);
    targets.get(type).push(name);
  }
  const edges = new Map();
  for (const [name, func] of wat.funcs) {
    const out = new Set(graph.get(name).calls);
    walk(func, (n) => {
      if (n[0] !== 'call_indirect') return;
      const type = n.find((p) => Array.isArray(p) && p[0] === 'type');
      for (const target of targets.get(flat(type ? types.get(type[1]) : n)) ?? []) out.add(target);
    });
    edges.set(name, out);
  }
  return edges;
}
