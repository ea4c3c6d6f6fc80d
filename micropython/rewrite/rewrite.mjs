#!/usr/bin/env node
// Turns the stock MicroPython WebAssembly file into PAL's engine. See ../../docs/engine.md for what is changed and why.
//
//	npm ci && node rewrite.mjs

import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from './lib/build.mjs';

const root = path.dirname(fileURLToPath(import.meta.url));
const output = path.join(root, '..', 'engine', 'engine.wasm');

// One line in all: on a terminal each step replaces the last, in a log they follow each other.
const fresh = process.stderr.isTTY ? '\r\x1b[K' : '';
let begun = false;

function say(text, end) {
  process.stderr.write(`${begun && !fresh ? '' : `${fresh}engine: `}${text}${end}`);
  begun = true;
}

try {
  const { cached, size, counts } = await build({
    root, output, progress: (step) => say(step, ' … '), loadRewrite: async () => (await import('./lib/pipeline.mjs')).rewrite,
  });
  const detail = cached ? 'unchanged' : `${counts.loops} loops, ${counts.tests} unwinding tests, ${counts.checked} stack checks`;
  say(`engine.wasm, ${size} bytes, ${detail}`, '\n');
} catch (err) {
  process.stderr.write(`${begun ? '\n' : ''}engine: ${err.message.split('\n')[0]}\n`);
  process.exitCode = 1;
}
