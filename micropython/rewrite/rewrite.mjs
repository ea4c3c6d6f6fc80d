#!/usr/bin/env node
// Turns the stock MicroPython WebAssembly file into PAL's engine. See ../../docs/engine.md for what is changed and why.
//
//	npm ci && node rewrite.mjs

import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from './lib/build.mjs';

const root = path.dirname(fileURLToPath(import.meta.url));
const output = path.join(root, '..', 'engine', 'engine.wasm');

function progress(step) {
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[Kengine: ${step} …` : `${step} … `);
}

try {
  if (!process.stderr.isTTY) process.stderr.write('engine: ');
  const { cached, size, counts } = await build({
    root, output, progress, loadRewrite: async () => (await import('./lib/pipeline.mjs')).rewrite,
  });
  const detail = cached ? 'unchanged' : `${counts.loops} loops, ${counts.tests} unwinding tests, ${counts.checked} stack checks`;
  process.stderr.write(`${process.stderr.isTTY ? '\r\x1b[Kengine: ' : ''}engine.wasm, ${size} bytes, ${detail}\n`);
} catch (err) {
  process.stderr.write(`\nengine: ${err.message.split('\n')[0]}\n`);
  process.exitCode = 1;
}
