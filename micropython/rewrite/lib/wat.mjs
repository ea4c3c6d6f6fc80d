// A module's text with what the rewrite asks of it: functions by name, imports, exports, table and call graph.

import { parse, print, walk } from './sexpr.mjs';

const HEAD = new Set(['export', 'import', 'type', 'param', 'result', 'local']);

/** Where a function's instructions start: after its name, signature and locals. */
export function bodyStart(func) {
  let at = 1;
  while (at < func.length && (typeof func[at] === 'string' || HEAD.has(func[at][0]))) at++;
  return at;
}

/** The instructions of a function. */
export function body(func) {
  return func.slice(bodyStart(func));
}

/** Parameter and result types: { params: ['i32', …], results: ['f64'] }. */
export function signature(func) {
  const params = [];
  const results = [];
  for (const part of func) {
    if (!Array.isArray(part)) continue;
    if (part[0] === 'param') params.push(...part.slice(1).filter((t) => !t.startsWith('$')));
    if (part[0] === 'result') results.push(...part.slice(1));
  }
  return { params, results };
}

/** The name of a parameter. */
export function paramName(func, index) {
  return func.filter((part) => Array.isArray(part) && part[0] === 'param')[index][1];
}

/** An instruction that gives the zero of a type. */
export function zero(type) {
  return [`${type}.const`, '0'];
}

export class Wat {
  constructor(text) {
    this.root = parse(text);
    this.funcs = new Map();
    this.imports = new Map(); // function name -> { module, name, func }
    this.exports = new Map(); // export name -> function name
    this.table = [];
    this.data = []; // { base, text }: what the memory starts with, as it is quoted in the text
    for (const field of this.root.slice(1)) this.#index(field);
  }

  #index(field) {
    if (field[0] === 'func') {
      this.funcs.set(field[1], field);
    } else if (field[0] === 'import' && field[3][0] === 'func') {
      this.imports.set(field[3][1], { module: field[1].slice(1, -1), name: field[2].slice(1, -1), func: field[3] });
    } else if (field[0] === 'export' && field[2][0] === 'func') {
      this.exports.set(field[1].slice(1, -1), field[2][1]);
    } else if (field[0] === 'data' && field[2]?.[0] === 'i32.const') {
      this.data.push({ base: Number(field[2][1]), text: field[3] });
    } else if (field[0] === 'elem' && !field.includes('declare')) {
      const base = Number(field.find((part) => Array.isArray(part) && part[0] === 'i32.const')[1]);
      field.slice(2).filter((part) => typeof part === 'string' && part.startsWith('$'))
        .forEach((name, i) => { this.table[base + i] = name; });
    }
  }

  /** The text of ASCII characters that ends with a zero byte at an address of the memory at the start. */
  textAt(address) {
    const ESCAPES = { n: '\n', t: '\t', r: '\r' };
    for (const { base, text } of this.data) {
      if (address < base) continue;
      let at = base;
      let found = '';
      for (const [, hex, escaped, plain] of text.slice(1, -1).matchAll(/\\([0-9a-f]{2})|\\(.)|([^])/g)) {
        if (at++ < address) continue;
        if (hex === '00') return found;
        found += hex ? String.fromCharCode(parseInt(hex, 16)) : ESCAPES[escaped] ?? escaped ?? plain;
      }
    }
    return null;
  }

  /** The function behind an export; says which one is missing. */
  exported(name) {
    const func = this.funcs.get(this.exports.get(name));
    if (!func) throw new Error(`the file exports no function ${name}`);
    return func;
  }

  /** The local name of an imported function. */
  importNamed(name) {
    for (const [local, imp] of this.imports) if (imp.name === name) return local;
    throw new Error(`the file imports no function ${name}`);
  }

  /** The signature of a defined or imported function. */
  signatureOf(name) {
    return signature(this.funcs.get(name) ?? this.imports.get(name).func);
  }

  /** Adds fields, given as text, after the imports: `where` is the keyword of the fields they join. */
  add(text) {
    const fields = parse(`(fields ${text})`).slice(1);
    for (const field of fields) {
      const last = this.root.findLastIndex((f) => f[0] === field[0]);
      const at = last >= 0 ? last + 1 : this.root.findIndex((f) => f[0] === 'func');
      this.root.splice(at, 0, field);
      this.#index(field);
    }
  }

  /** Drops an import, so that a function of the same name can take its place. */
  dropImport(name) {
    const at = this.root.findIndex((f) => f[0] === 'import' && f[3][1] === name);
    this.root.splice(at, 1);
    this.imports.delete(name);
  }

  /** Direct calls of every function, and whether it makes indirect ones: name -> { calls: Set, indirect: boolean }. */
  callGraph() {
    const graph = new Map();
    for (const [name, func] of this.funcs) {
      const node = { calls: new Set(), indirect: false };
      walk(func, (n) => {
        if (n[0] === 'call' || n[0] === 'ref.func') node.calls.add(n[1]);
        if (n[0] === 'call_indirect') node.indirect = true;
      });
      graph.set(name, node);
    }
    return graph;
  }

  toString() {
    return print(this.root);
  }
}

/**
 * The functions from which one of the targets can be reached. An indirect call counts as reaching it; calls of a function in
 * `stop` do not count.
 */
export function reaching(graph, targets, stop = new Set()) {
  const reached = new Set(targets);
  for (const [name, node] of graph) if (node.indirect && !stop.has(name)) reached.add(name);
  for (let grown = true; grown;) {
    grown = false;
    for (const [name, node] of graph) {
      if (reached.has(name) || stop.has(name)) continue;
      if ([...node.calls].some((callee) => reached.has(callee))) {
        reached.add(name);
        grown = true;
      }
    }
  }
  return reached;
}

/** The strongly connected parts of a graph given as name -> iterable of names, callees first. */
export function components(edges) {
  const order = new Map();
  const low = new Map();
  const stack = [];
  const onStack = new Set();
  const parts = [];
  const visit = (name) => {
    order.set(name, order.size);
    low.set(name, order.get(name));
    stack.push(name);
    onStack.add(name);
    for (const next of edges.get(name)) {
      if (!edges.has(next)) continue;
      if (!order.has(next)) {
        visit(next);
        low.set(name, Math.min(low.get(name), low.get(next)));
      } else if (onStack.has(next)) {
        low.set(name, Math.min(low.get(name), order.get(next)));
      }
    }
    if (low.get(name) !== order.get(name)) return;
    const part = [];
    for (let member; member !== name;) {
      member = stack.pop();
      onStack.delete(member);
      part.push(member);
    }
    parts.push(part);
  };
  for (const name of edges.keys()) if (!order.has(name)) visit(name);
  return parts;
}
