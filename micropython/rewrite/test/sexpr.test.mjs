import assert from 'node:assert/strict';
import { test } from 'node:test';

import { match, matches, parse, print } from '../lib/sexpr.mjs';

test('printing keeps every atom', () => {
  const text = '(module (data (i32.const 8) "a\\")(;b") (func $f (result i32) (i32.const -1)))';
  assert.deepEqual(parse(print(parse(text))), parse(text));
  assert.match(print(parse(text)), /"a\\"\)\(;b"/);
});

test('comments are dropped', () => {
  assert.deepEqual(parse('(a ;; b )\n (; (c ;) d)'), ['a', 'd']);
});

test('brackets must match', () => {
  for (const text of ['(a', '(a))', 'a b', '("a']) assert.throws(() => parse(text), undefined, text);
});

test('a pattern name stands for one child and the same one each time', () => {
  const pattern = parse('(i32.add (local.get ?x) (local.get ?x))');
  assert.equal(match(pattern, parse('(i32.add (local.get $1) (local.get $2))')), null);
  assert.equal(match(pattern, parse('(i32.add (local.get $1) (local.get $1))')).x, '$1');
  assert.equal(matches('(local.get ?x)', parse('(i32.add (local.get $1) (local.get $2))')).length, 2);
});
