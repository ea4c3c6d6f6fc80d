import assert from 'node:assert/strict';
import { cp, mkdtemp, mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { build, cacheKey, INPUT } from '../lib/build.mjs';

const home = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
let root;
let output;
let runs;

// A copy of the folder in which the rewrite itself is replaced by something quick: these tests are about the build around it.
beforeEach(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'engine-build-'));
  output = path.join(root, 'out', 'engine.wasm');
  runs = 0;
  await cp(path.join(home, 'lib'), path.join(root, 'lib'), { recursive: true });
  const stock = path.join('node_modules', INPUT.package, INPUT.file);
  await cp(path.join(home, stock), path.join(root, stock));
  await mkdir(path.join(root, 'node_modules', 'binaryen'), { recursive: true });
  await writeFile(path.join(root, 'node_modules', 'binaryen', 'package.json'), '{"version":"1.2.3"}');
});

afterEach(() => rm(root, { recursive: true }));

const loadRewrite = async () => (stock) => {
  runs++;
  return { engine: Buffer.from(`engine ${runs} of ${stock.length}`), counts: {} };
};

const run = () => build({ root, output, loadRewrite });

test('a second run answers from the cache', async () => {
  const first = await run();
  const written = await readFile(output);
  const before = await stat(output);
  const second = await run();
  assert.deepEqual([first.cached, second.cached, runs], [false, true, 1]);
  assert.deepEqual(await readFile(output), written);
  assert.equal((await stat(output)).mtimeMs, before.mtimeMs, 'an unchanged file is not written again');
});

test('a lost or changed output comes back from the cache', async () => {
  await run();
  const written = await readFile(output);
  for (const spoil of [() => rm(output), () => writeFile(output, 'spoilt')]) {
    await spoil();
    assert.equal((await run()).cached, true);
    assert.deepEqual(await readFile(output), written);
  }
});

test('a change of the rewrite or of Binaryen makes a new engine, and the old entry goes', async () => {
  await run();
  await writeFile(path.join(root, 'lib', 'edits.mjs'), '// changed\n');
  assert.equal((await run()).cached, false);
  await writeFile(path.join(root, 'node_modules', 'binaryen', 'package.json'), '{"version":"1.2.4"}');
  assert.equal((await run()).cached, false);
  assert.equal((await readdir(path.join(root, '.cache'))).length, 1);
});

test('a damaged cache entry is not used', async () => {
  await run();
  const stock = await readFile(path.join(root, 'node_modules', INPUT.package, INPUT.file));
  await writeFile(path.join(root, '.cache', await cacheKey(root, stock)), 'x'.repeat(100));
  assert.equal((await run()).cached, false);
});

test('another input is refused and says what to do', async () => {
  await writeFile(path.join(root, 'node_modules', INPUT.package, INPUT.file), 'something else');
  await assert.rejects(run(), (err) => err.message.includes(INPUT.sha256) && /found [0-9a-f]{64}/.test(err.message)
    && err.message.includes('npm ci'));
  await assert.rejects(stat(output), { code: 'ENOENT' });
});

test('a missing package says what to do', async () => {
  await rm(path.join(root, 'node_modules', INPUT.package), { recursive: true });
  await assert.rejects(run(), /missing: run "npm ci"/);
});

test('a failing rewrite leaves the old engine', async () => {
  await run();
  const written = await readFile(output);
  await writeFile(path.join(root, 'lib', 'edits.mjs'), '// changed\n');
  const failing = async () => () => { throw new Error('looking for gc_alloc'); };
  await assert.rejects(build({ root, output, loadRewrite: failing }), /gc_alloc/);
  assert.deepEqual(await readFile(output), written);
});
