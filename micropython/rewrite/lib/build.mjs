// The build step around the rewrite: pinned input, cache, atomic output.

import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** The one input that the rewrite was checked against. */
export const INPUT = {
  package: '@micropython/micropython-webassembly-pyscript',
  version: '1.27.0',
  file: 'micropython.wasm',
  sha256: '06338c955b03c5700aa0069015d3e392d76836ef8e2ce25bedbe59b88ccd373c',
};

export function sha256(data) {
  return createHash('sha256').update(data).digest('hex');
}

/** Throws unless data is the pinned input. */
export function checkInput(data, where) {
  const found = sha256(data);
  if (found === INPUT.sha256) return;
  throw new Error(`${where} is not the engine file this rewrite was made for: expected sha256 ${INPUT.sha256} `
    + `(${INPUT.package} ${INPUT.version}), found ${found}. Run "npm ci" to get the pinned file; to move to another version, `
    + 'change the pin here and run all tests of this folder.');
}

async function readInput(file) {
  try {
    return await readFile(file);
  } catch (err) {
    if (err.code !== 'ENOENT') throw err;
    throw new Error(`${file} is missing: run "npm ci" in micropython/rewrite first`);
  }
}

async function packageVersion(root, name) {
  return JSON.parse(await readInput(path.join(root, 'node_modules', name, 'package.json'))).version;
}

async function sources(root) {
  const lib = path.join(root, 'lib');
  const names = (await readdir(lib)).filter((name) => name.endsWith('.mjs')).sort();
  return Promise.all(names.map(async (name) => `${name}\0${await readFile(path.join(lib, name), 'utf8')}`));
}

/** Names the result of a build: hash of the input, of the rewrite's own text and of Binaryen's version. */
export async function cacheKey(root, input) {
  const parts = [sha256(input), await packageVersion(root, 'binaryen'), ...await sources(root)];
  return sha256(parts.join('\0'));
}

async function readIfThere(file) {
  try {
    return await readFile(file);
  } catch (err) {
    if (err.code === 'ENOENT') return null;
    throw err;
  }
}

async function replace(file, data) {
  await mkdir(path.dirname(file), { recursive: true });
  // The leading dot keeps what a killed build leaves out of the Go program, which embeds the folder.
  const temporary = path.join(path.dirname(file), `.${path.basename(file)}.tmp${process.pid}`);
  try {
    await writeFile(temporary, data);
    await rename(temporary, file);
  } catch (err) {
    await rm(temporary, { force: true });
    throw err;
  }
}

// A cache entry starts with the hash of the rest, so that a damaged one counts as none.
async function readCache(file) {
  const entry = await readIfThere(file);
  if (!entry || entry.length < 64) return null;
  const data = entry.subarray(64);
  return entry.subarray(0, 64).toString('latin1') === sha256(data) ? data : null;
}

/**
 * Builds `output` from the pinned file. root: the folder with lib and node_modules; input: the stock file, by default the
 * package's; rewrite: loaded only when the cache has no answer, because Binaryen alone takes half a second to load.
 * Returns { cached, size, counts }.
 */
export async function build({ root, output, input, cache = path.join(root, '.cache'), loadRewrite, progress = () => {} }) {
  const file = input ?? path.join(root, 'node_modules', INPUT.package, INPUT.file);
  const stock = await readInput(file);
  checkInput(stock, file);
  const entry = path.join(cache, await cacheKey(root, stock));
  const known = await readCache(entry);
  if (known) {
    const present = await readIfThere(output);
    if (!present?.equals(known)) await replace(output, known);
    return { cached: true, size: known.length };
  }
  const rewrite = await loadRewrite();
  const { engine, counts } = rewrite(stock, progress);
  await replace(output, engine);
  await rm(cache, { recursive: true, force: true });
  await replace(entry, Buffer.concat([Buffer.from(sha256(engine), 'latin1'), engine]));
  return { cached: false, size: engine.length, counts };
}
