import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import binaryen from 'binaryen';

import { INPUT } from '../lib/build.mjs';
import { edit, STACK } from '../lib/edits.mjs';
import { stockText } from '../lib/pipeline.mjs';
import { describe, findPlaces } from '../lib/places.mjs';
import { Wat } from '../lib/wat.mjs';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
let text;

before(async () => {
  text = stockText(await readFile(path.join(root, 'node_modules', INPUT.package, INPUT.file)));
});

test('every place of the pinned file is found', () => {
  const places = findPlaces(new Wat(text));
  const line = describe(places);
  for (const key of ['sp', 'throwImport', 'setThrew', 'collect', 'collectStart', 'collectEnd', 'mark', 'allocate', 'area',
    'maxNewSplit', 'limitCall', 'recursionError', 'nlrJump', 'nlrTop', 'pending']) {
    assert.match(line, new RegExp(`\\b${key}=[^ ]`));
  }
  assert.equal(places.invokes.length, 11);
});

// Each damage makes one search fail; the message names the search.
const damages = [
  ['stack pointer', /emscripten_stack_get_current/, (t) => t.replace('(export "emscripten_stack_get_current"', '(export "renamed"')],
  ['heap split', /gc_get_max_new_split.*found nothing/, (t) => t.replaceAll('(i32.const 134217728)', '(i32.const 134217720)')],
  ['heap split twice', /gc_get_max_new_split.*found 2 places/,
    (t) => t.replace('\n (func $', '\n (func $twin (result i32) (i32.const 134217728))\n (func $')],
  ['throw', /_emscripten_throw_longjmp/, (t) => t.replace('"_emscripten_throw_longjmp"', '"other"')],
  ['invokes', /no invoke_ function/, (t) => t.replaceAll('"invoke_', '"other_')],
  ['stack limit', /stack limit in mp_js_init/, (t) => t.replace(/(\(call \$\d+\s+)\(i32\.const 32768\)/, '$1(i32.add (i32.const 32760) (i32.const 8))')],
];

for (const [name, message, damage] of damages) {
  test(`a file without its ${name} is refused`, () => {
    const damaged = damage(text);
    assert.notEqual(damaged, text);
    assert.throws(() => findPlaces(new Wat(damaged)), message);
  });
}

test('the edits leave nothing of what they replace', () => {
  const wat = new Wat(text);
  const places = findPlaces(wat);
  const collect = places.collect;
  edit(wat, places);
  const names = [...wat.imports.values()].map((imp) => imp.name);
  assert.ok(names.includes('tick'));
  assert.deepEqual(names.filter((n) => n.startsWith('invoke_') || n.includes('longjmp')), []);
  assert.ok(wat.callGraph().get(collect).calls.has('$pal_scan'));
  assert.equal(wat.callGraph().get(places.maxNewSplit[1]).calls.size, 0);
  assert.deepEqual(places.maxNewSplit.at(-1), ['i32.const', '0']);
  assert.deepEqual(places.limitCall.at(-1), ['i32.const', String(STACK.python)]);
});

test('limits of the C stack are in order', () => {
  assert.ok(STACK.python < STACK.soft && STACK.soft < STACK.hard && STACK.hard < STACK.size);
});

test('binaryen is the pinned one', async () => {
  const wanted = JSON.parse(await readFile(path.join(root, 'package.json'))).dependencies.binaryen;
  const found = JSON.parse(await readFile(path.join(root, 'node_modules/binaryen/package.json'))).version;
  assert.equal(found, wanted);
  assert.equal(typeof binaryen.parseText, 'function');
});
