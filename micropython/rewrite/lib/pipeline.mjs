// From the stock file to the engine: three stages of edits on WebAssembly text with Binaryen's passes between them.

import binaryen from 'binaryen';

import { edit } from './edits.mjs';
import { findPlaces } from './places.mjs';
import { guardStack } from './stack.mjs';
import { showCalls, unwind } from './unwind.mjs';
import { Wat } from './wat.mjs';

const F = binaryen.Features;
// What the stock file uses and every runtime has.
const OUTPUT = F.MVP | F.BulkMemory | F.BulkMemoryOpt | F.MutableGlobals | F.SignExt | F.NontrappingFPToInt
  | F.ReferenceTypes | F.CallIndirectOverlong | F.Multivalue;
const INSIDE = OUTPUT | F.GC; // for calls hidden from the spill pass

// The passes in the middle drop most of the temporaries that flattening makes, the last flattening what they nest again.
const FLATTEN = ['flatten', 'simplify-locals-notee-nostructure', 'flatten', 'coalesce-locals'];

function parseStage(wat, passes, features) {
  const module = binaryen.parseText(wat.toString(), features);
  if (passes.length > 0) module.runPasses(passes);
  return module;
}

function takeText(module) {
  const wat = new Wat(module.emitText());
  module.dispose();
  return wat;
}

/** The stock file as text. */
export function stockText(stock) {
  const module = binaryen.readBinary(stock, OUTPUT);
  const text = module.emitText();
  module.dispose();
  return text;
}

/** Returns { engine: Uint8Array, counts } for the bytes of the stock file. progress is called with short texts. */
export function rewrite(stock, progress = () => {}) {
  binaryen.setOptimizeLevel(3);
  binaryen.setShrinkLevel(0);
  progress('reading');
  const first = new Wat(stockText(stock));
  const places = findPlaces(first);
  const { sizes, variable } = edit(first, places);

  progress('flattening');
  const second = takeText(parseStage(first, FLATTEN, OUTPUT));
  const { checked, tests, hidden } = unwind(second, places);

  progress('spilling pointers');
  const third = takeText(parseStage(second, ['spill-pointers'], INSIDE));
  showCalls(third);
  const counts = guardStack(third, places, { checked, sizes });

  progress('optimising');
  const module = parseStage(third, [], OUTPUT);
  module.optimize();
  module.optimize();
  if (!module.validate()) throw new Error('the rewritten module is not valid WebAssembly');
  const engine = module.emitBinary();
  module.dispose();
  return { engine, counts: { ...counts, tests, hidden, variable } };
}
