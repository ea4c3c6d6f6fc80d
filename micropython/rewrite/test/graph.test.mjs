import assert from 'node:assert/strict';
import { test } from 'node:test';

import { checkedFunctions, collecting, throwing } from '../lib/graph.mjs';
import { unwind } from '../lib/unwind.mjs';
import { Wat, components } from '../lib/wat.mjs';

const SAMPLE = `(module
  (import "env" "call0" (func $call0))
  (import "env" "mp_js_ticks_ms" (func $ticks (result i32)))
  (table $0 1 1 funcref) (elem $0 (i32.const 0) $leaf)
  (export "malloc" (func $leaf)) (export "free" (func $leaf))
  (func $pal_throw) (func $pal_overflow (call $pal_throw))
  (func $pal_catch$0 (param $p i32) (call_indirect $0 (local.get $p)))
  (func $leaf)
  (func $even (call $odd)) (func $odd (call $even))
  (func $throws (call $pal_throw))
  (func $catches (call $pal_catch$0 (i32.const 0)))
  (func $asks (drop (call $ticks)))
  (func $collect)
  (func $allocates (result i32) (local $x i32) (local.set $x (call $asks2)) (call $throws) (local.get $x))
  (func $asks2 (result i32) (call $collect) (i32.const 1))
  (func $host (call $call0)))`;

test('components come callees first', () => {
  const parts = components(new Map([['a', ['b']], ['b', ['c', 'a']], ['c', []]]));
  assert.deepEqual(parts.map((part) => part.sort()), [['c'], ['a', 'b']]);
});

test('recursion and calls through the table are checked, wrappers and leaves are not', () => {
  const graph = new Wat(SAMPLE).callGraph();
  assert.deepEqual([...checkedFunctions(graph)].sort(), ['$catches', '$even', '$odd']);
});

test('what throws, and what collects', () => {
  const wat = new Wat(SAMPLE);
  const graph = wat.callGraph();
  const may = throwing(graph, checkedFunctions(graph));
  for (const name of ['$throws', '$allocates', '$even', '$pal_overflow']) assert.ok(may.has(name), name);
  for (const name of ['$leaf', '$asks', '$pal_catch$0']) assert.ok(!may.has(name), name);
  const collects = collecting(wat, graph, '$collect');
  for (const name of ['$asks2', '$allocates', '$host', '$catches']) assert.ok(collects.has(name), name);
  for (const name of ['$leaf', '$asks', '$throws']) assert.ok(!collects.has(name), name);
});

test('a test follows each call that may throw and no other', () => {
  const wat = new Wat(SAMPLE);
  unwind(wat, { collect: '$collect', collectStart: '$leaf' });
  const text = wat.toString().split('\n').find((line) => line.startsWith('(func $allocates'));
  assert.equal(text.match(/pal_unwinding/g).length, 1);
  assert.match(text, /\(if \(global.get \$pal_unwinding\) \(then \(return \(i32.const 0\)\)\)\) \(local.get \$x\)/);
  assert.match(text, /\(call \$asks2\)/, 'a call that may collect stays visible to the spill pass');
  assert.match(text, /\(ref.func \$throws\)/, 'a call that cannot collect is hidden from it');
});

test('a call inside an expression is refused', () => {
  const wat = new Wat(SAMPLE.replace('(drop (call $ticks))', '(drop (i32.eqz (call $ticks)))'));
  assert.throws(() => unwind(wat, { collect: '$collect', collectStart: '$leaf' }), /\$asks has 1 calls inside expressions/);
});

test('recursion in the allocator is refused', () => {
  const wat = new Wat(SAMPLE.replace('(export "malloc" (func $leaf))', '(export "malloc" (func $even))'));
  assert.throws(() => unwind(wat, { collect: '$collect', collectStart: '$leaf' }), /\$even takes part in recursion/);
});
