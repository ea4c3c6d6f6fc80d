// Finds the places that quick.mjs changes, as places.mjs finds the others.

import { matches, parse, match, walk } from './sexpr.mjs';
import { bodyMatches, callersOf, distinct, offset, only } from './places.mjs';
import { body, signature } from './wat.mjs';

function takes(func, params, results) {
  const found = signature(func);
  return found.params.join() === params && found.results.join() === results;
}

/** qstr_find_strn: hashes a text and looks for it in one pool of names after the other; and the one function that adds a name. */
function names(wat) {
  const found = [];
  for (const func of wat.funcs.values()) {
    if (!takes(func, 'i32,i32', 'i32')) continue;
    const empty = match(parse('(block ?b (br_if ?b (local.get ?length)) (return (i32.const 1)))'), body(func)[0]);
    const hash = matches('(i32.xor (i32.mul (local.get ?h) (i32.const 33)) (i32.load8_u (local.get ?p)))', func);
    const answer = matches('(return (i32.add (local.get ?at) (i32.and (local.get ?older) (i32.const 2147483647))))', func);
    const head = matches('(br_if ?none (i32.eqz (local.tee ?pool (i32.load ?state (i32.const ?field)))))', func);
    const same = matches(`(i32.eqz (call ?compare
      (i32.load (i32.add (local.get ?texts) (i32.shl (local.get ?at) (i32.const 2)))) (local.get ?text) (local.get ?length)))`, func);
    if (!empty || [hash, answer, head, same].some((m) => m.length !== 1)) continue;
    found.push({ find: func[1], compare: same[0].compare, pool: offset(head[0].state) + Number(head[0].field) });
    checkPool(func, head[0].pool);
  }
  const search = only('qstr_find_strn', found);
  const stores = callersOf(wat, search.find).flatMap((func) => storesOf(func).map((store) => ({ add: func, ...store })));
  return { ...search, ...only('the function that adds a name', stores) };
}

function checkPool(func, pool) {
  const reads = [`(i32.load offset=4 (local.get ${pool}))`, `(i32.load offset=12 (local.get ${pool}))`,
    `(i32.load offset=16 (local.get ${pool}))`, `(i32.add (local.get ${pool}) (i32.const 24))`, `(i32.load (local.get ${pool}))`,
    '(i32.load16_u (i32.add (local.get ?hashes) (i32.shl (local.get ?at) (i32.const 1))))'];
  for (const read of reads) {
    if (matches(read, func).length === 0) throw new Error(`qstr_find_strn never reads ${read}: a pool of names has another layout`);
  }
}

/** Where a hash of 16 bits is stored: { stored: the instruction, hash: the value }. */
function storesOf(func) {
  const pattern = parse('(i32.store16 (i32.add (local.get ?hashes) (i32.shl (local.get ?at) (i32.const 1))) ?hash)');
  const all = [];
  walk(func, (n) => {
    const store = match(pattern, n);
    if (store) all.push({ stored: n, hash: store.hash });
  });
  return all;
}

/** mp_obj_equal: the truth of operation 2 of two objects; and what that does with two strings. */
function equality(wat) {
  const found = [];
  for (const func of wat.funcs.values()) {
    const calls = bodyMatches(func, '(call ?truth (call ?operation (i32.const 2) (local.get ?a) (local.get ?b)))');
    if (calls && takes(func, 'i32,i32', 'i32')) found.push({ equal: func[1], operation: wat.funcs.get(calls.operation) });
  }
  const { equal, operation } = only('mp_obj_equal', found);
  const strings = matches('(return (select ?yes ?no (call ?strings (local.get ?a) (local.get ?b))))', operation);
  const types = matches('(br_if ?other (i32.ne (i32.load (local.get ?x)) (i32.const ?type)))', operation);
  return {
    equal,
    equalStrings: only('mp_obj_str_equal', strings).strings,
    stringType: only('the type of strings', distinct(types.map((t) => t.type))),
  };
}

/** mp_map_lookup and mp_set_lookup: from the hash of the key (operation 6) they go from slot to slot and compare. */
function tables(wat, equal) {
  const lookups = callersOf(wat, equal).filter((func) => takes(func, 'i32,i32,i32', 'i32')
    && matches('(i32.rem_u (i32.add (local.get ?at) (i32.const 1)) ?size)', func).length === 2);
  if (lookups.length !== 2) throw new Error(`looking for mp_map_lookup and mp_set_lookup: found ${lookups.length} functions`);
  const hashes = lookups.flatMap((func) => matches('(i32.shr_s (call ?unary (i32.const 6) (local.get ?key)) (i32.const 1))', func));
  return { lookups, unaryOperation: only('mp_unary_op', distinct(hashes.map((h) => h.unary))) };
}

/** Where text is written with mp_printf(print, "%c", character), the character being in the frame at args. */
function characters(wat) {
  const pattern = parse('(drop (call ?printf (local.get ?print) (i32.const ?format) ?args))');
  const sites = [];
  for (const func of wat.funcs.values()) {
    walk(func, (place, parent, index) => {
      const call = match(pattern, place);
      if (!call || wat.textAt(Number(call.format)) !== '%c') return;
      const far = match(parse('(i32.add (local.get ?frame) (i32.const ?n))'), call.args);
      const store = far ? `(i32.store offset=${far.n} (local.get ${far.frame}) (local.get ?c))` : '(i32.store ?args (local.get ?c))';
      if (match(parse(store), parent[index - 1], { ...call })) sites.push({ place, ...call });
    });
  }
  only('mp_printf of one character', distinct(sites.map((site) => site.printf)));
  return sites;
}

/** What reads the next character of JSON from a stream, and the table index of the read function of StringIO and BytesIO. */
function jsonReader(wat) {
  const readers = [...wat.funcs.values()].filter((func) => takes(func, 'i32', 'i32')
    && match(parse(`(local.set ?read (call_indirect ?table ?type (i32.load (local.get ?s))
      (local.tee ?to (i32.add (local.get ?s) (i32.const 12))) (i32.const 1) (i32.add (local.get ?s) (i32.const 8))
      (i32.load offset=4 (local.get ?s))))`), body(func)[0]));
  const reads = [...new Set(wat.table)].filter((name) => {
    const func = wat.funcs.get(name);
    if (!func || !takes(func, 'i32,i32,i32,i32', 'i32')) return false;
    const checks = [
      '(br_if ?closed (i32.eqz (local.tee ?vstr (i32.load offset=4 (local.get ?o)))))',
      '(br_if ?none (i32.le_u (local.tee ?n (i32.load offset=4 (local.get ?vstr))) (local.tee ?at (i32.load offset=8 (local.get ?o)))))',
      '(memory.copy (local.get ?to) (i32.add (i32.load offset=8 (local.get ?vstr)) (local.get ?at)) (local.get ?size))',
      '(i32.store offset=8 (local.get ?o) (i32.add (i32.load offset=8 (local.get ?o)) (local.get ?size)))'];
    return checks.every((check) => matches(check, func).length === 1);
  });
  return {
    next: only('what reads the next character of JSON', readers)[1],
    stringRead: wat.table.indexOf(only('the read function of StringIO', reads)),
  };
}

/** The statements of a loop from its first on: [label, statements], or null when node is none. */
function loopOf(node) {
  return node[0] === 'loop' && typeof node[1] === 'string' ? [node[1], node.slice(2)] : null;
}

// gc_alloc goes through the table of two bits a block, four blocks to a byte, 0 being a free block. Two loops look for one free
// block, two for several in a row, of which they carry the number from byte to byte.
const ONE_FREE = `(block ?b (br_if ?b (i32.and (local.tee ?byte (i32.load8_u (i32.add (local.get ?table) (local.get ?at))))
  (i32.const 3))) (local.set ?n (i32.const 1)) (br ?found))`;
const SOME_FREE = `(block ?b (br_if ?b (i32.and (local.tee ?byte (i32.load8_u (i32.add (local.get ?table) (local.get ?at))))
  (i32.const 3))) (br_if ?found (i32.ge_u (local.tee ?n (i32.add (local.get ?carry) (i32.const 1))) (local.get ?blocks))))`;
const NEXT_BYTE = '(br_if ?label (i32.ne (local.tee ?at (i32.add (local.get ?at) (i32.const 1))) (local.get ?end)))';

function freeSearches(func) {
  const searches = [];
  walk(func, (loop) => {
    const [label, code] = loopOf(loop) ?? [];
    if (!label) return;
    const one = match(parse(ONE_FREE), code[0]);
    const some = !one && code[1] && match(parse(SOME_FREE), code[1]);
    const found = (one || some) && match(parse(NEXT_BYTE), code.at(-1), { label, ...(one || some) });
    if (found) searches.push({ loop, ...found });
  });
  if (searches.length !== 4) throw new Error(`looking for the four searches of gc_alloc: found ${searches.length}`);
  return searches;
}

/** Where gc_realloc counts the blocks of the object that it is to make longer: a tail of an object is 2. */
function tailCount(wat) {
  const found = [];
  const one = (name) => `(local.set ?${name} (i32.add (local.get ?${name}) (i32.const 1)))`;
  const pattern = parse(`(block ?free
    (br_if ?free (i32.eqz (local.tee ?kind (i32.and (i32.shr_u
     (i32.load8_u (i32.add (i32.load offset=4 (local.get ?area)) (i32.shr_u (local.get ?at) (i32.const 2))))
     (i32.and (i32.shl (local.get ?at) (i32.const 1)) (i32.const 6))) (i32.const 3)))))
    (br_if ?done (i32.ne (local.get ?kind) (i32.const 2))) ${one('first')} ${one('second')} (br ?label))`);
  for (const func of wat.funcs.values()) {
    walk(func, (loop) => {
      const [label, code] = loopOf(loop) ?? [];
      const step = label && match(parse(`(br_if ?done (i32.ge_u
        (local.tee ?at (i32.add (local.get ?at) (i32.const 1))) (local.get ?end)))`), code[0], { label });
      const count = step && code[1] && match(pattern, code[1], step);
      if (count) found.push({ loop, ...count });
    });
  }
  return only('gc_realloc', found);
}

/** All places of quick.mjs; allocate is the name of gc_alloc. */
export function findShortcuts(wat, { allocate }) {
  const equal = equality(wat);
  return {
    names: names(wat),
    ...equal,
    ...tables(wat, equal.equal),
    characters: characters(wat),
    json: jsonReader(wat),
    searches: freeSearches(wat.funcs.get(allocate)),
    tails: tailCount(wat),
  };
}
