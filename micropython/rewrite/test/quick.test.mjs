// The helpers of lib/quick.mjs against plain models of what they stand for.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import binaryen from 'binaryen';

import { COPY, FILL, FIRST_FREE, LONGEST_FILL } from '../lib/quick.mjs';

const module = binaryen.parseText(`(module (memory (export "memory") 1) ${COPY} ${FILL} ${FIRST_FREE}
  (export "copy" (func $pal_copy)) (export "fill" (func $pal_fill)) (export "firstFree" (func $pal_first_free)))`);
module.setFeatures(binaryen.Features.BulkMemory | binaryen.Features.BulkMemoryOpt);
const { memory, copy, fill, firstFree } = new WebAssembly.Instance(new WebAssembly.Module(module.emitBinary())).exports;
const bytes = new Uint8Array(memory.buffer);

// A fixed sequence, so that a failure comes again.
function sequence(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) % below;
  };
}

function scribble(next) {
  for (let k = 0; k < 4096; k++) bytes[k] = next(256);
}

test('copies are those of memory.copy, overlapping or not', () => {
  const next = sequence(1);
  for (let n = 0; n <= 80; n++) {
    for (const gap of [-100, -33, -16, -9, -8, -7, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 8, 15, 17, 31, 100]) {
      scribble(next);
      const want = bytes.slice(0, 4096).copyWithin(1000 + gap, 1000, 1000 + n);
      copy(1000 + gap, 1000, n);
      assert.deepEqual(bytes.subarray(0, 4096), want, `${n} bytes, ${gap} apart`);
    }
  }
});

test('fills are those of memory.fill', () => {
  const next = sequence(2);
  for (let n = 0; n <= LONGEST_FILL + 40; n++) {
    const value = next(1 << 20);
    const at = 500 + next(16);
    scribble(next);
    const want = bytes.slice(0, 4096).fill(value & 255, at, at + n);
    fill(at, value, n);
    assert.deepEqual(bytes.subarray(0, 4096), want, `${n} bytes of ${value} at ${at}`);
  }
});

test('the first byte with a free block is found, or the last byte', () => {
  const next = sequence(3);
  const used = [1, 2, 3];
  const hasFree = (byte) => [0, 2, 4, 6].some((shift) => ((byte >> shift) & 3) === 0);
  let inside = 0;
  for (let round = 0; round < 20_000; round++) {
    const end = 1 + next(60);
    const rarely = [1, 10, 300][round % 3];
    for (let k = 0; k < end; k++) {
      bytes[k + 64] = 0;
      for (const shift of [0, 2, 4, 6]) bytes[k + 64] |= (next(rarely * 4) === 0 ? 0 : used[next(3)]) << shift;
    }
    bytes.fill(0, 64 + end, 64 + end + 16); // free blocks beyond the end do not count
    const at = next(end);
    let want = at;
    while (want < end - 1 && !hasFree(bytes[64 + want])) want++;
    assert.equal(firstFree(64, at, end), want);
    if (want > at && want < end - 1) inside++;
  }
  assert.ok(inside > 1000, `only ${inside} rounds skipped to somewhere before the end`);
});
