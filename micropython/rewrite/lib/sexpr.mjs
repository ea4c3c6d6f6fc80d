// WebAssembly text as nested arrays: ['i32.add', ['local.get', '$0'], ['i32.const', '1']].
// Atoms, quoted strings included, stay exactly as written, so printing what was parsed loses nothing but layout.

const SPACE = 0x20;
const OPEN = 0x28;
const CLOSE = 0x29;
const SEMICOLON = 0x3b;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Parses one expression and returns it; throws when the brackets do not match. */
export function parse(text) {
  const open = [[]];
  let at = 0;
  while (at < text.length) {
    const c = text.charCodeAt(at);
    if (c <= SPACE) {
      at++;
    } else if (c === SEMICOLON && text.charCodeAt(at + 1) === SEMICOLON) {
      const end = text.indexOf('\n', at);
      at = end < 0 ? text.length : end;
    } else if (c === OPEN && text.charCodeAt(at + 1) === SEMICOLON) {
      at = text.indexOf(';)', at) + 2;
    } else if (c === OPEN) {
      const list = [];
      open.at(-1).push(list);
      open.push(list);
      at++;
    } else if (c === CLOSE) {
      open.pop();
      if (open.length === 0) throw new Error(`unmatched ")" at offset ${at}`);
      at++;
    } else {
      const end = c === QUOTE ? stringEnd(text, at) : atomEnd(text, at);
      open.at(-1).push(text.slice(at, end));
      at = end;
    }
  }
  if (open.length !== 1 || open[0].length !== 1) throw new Error('unbalanced WebAssembly text');
  return open[0][0];
}

function stringEnd(text, at) {
  for (at++; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c === QUOTE) return at + 1;
    if (c === BACKSLASH) at++;
  }
  throw new Error('string without an end');
}

function atomEnd(text, at) {
  for (; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c <= SPACE || c === OPEN || c === CLOSE || c === SEMICOLON) return at;
  }
  return at;
}

/** Writes an expression, one top-level field to a line. */
export function print(node) {
  const out = [];
  const write = (n) => {
    if (typeof n === 'string') {
      out.push(n);
      return;
    }
    out.push('(');
    for (let i = 0; i < n.length; i++) {
      if (i > 0) out.push(' ');
      write(n[i]);
    }
    out.push(')');
  };
  if (typeof node === 'string') return node;
  out.push('(');
  node.forEach((field, i) => {
    if (i > 0) out.push('\n');
    write(field);
  });
  out.push(')');
  return out.join('');
}

/** Calls visit(node, parent, index) for every list below node, outermost first. */
export function walk(node, visit, parent = null, index = 0) {
  visit(node, parent, index);
  for (let i = 0; i < node.length; i++) {
    if (Array.isArray(node[i])) walk(node[i], visit, node, i);
  }
}

/**
 * Compares node with pattern. '?name' in the pattern stands for any one child and records it under that name; the same
 * name twice must match the same text. Returns the record, or null.
 */
export function match(pattern, node, found = {}) {
  if (typeof pattern === 'string' && pattern.startsWith('?')) {
    const name = pattern.slice(1);
    if (name in found && print(found[name]) !== print(node)) return null;
    found[name] = node;
    return found;
  }
  if (typeof pattern === 'string' || typeof node === 'string') return pattern === node ? found : null;
  if (pattern.length !== node.length) return null;
  for (let i = 0; i < pattern.length; i++) {
    if (!match(pattern[i], node[i], found)) return null;
  }
  return found;
}

/** All matches of pattern, written as text, at or below node. */
export function matches(pattern, node) {
  const tree = parse(pattern);
  const all = [];
  walk(node, (n) => {
    const found = match(tree, n);
    if (found) all.push(found);
  });
  return all;
}
