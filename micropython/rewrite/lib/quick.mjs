// First stage too: short ways through what profiles of text, JSON and dictionary programs showed to be slow. Each gives exactly the
// answer of the stock code, which stays behind it for every case that the short way leaves out.

import { match, parse, walk } from './sexpr.mjs';
import { bodyStart } from './wat.mjs';

/**
 * Functions of this file whose loops burn no fuel: a few dozen turns, one for each 32 blocks of the heap, or once in the life of an
 * engine.
 */
export const UNMETERED = new Set(['$pal_fill', '$pal_first_free', '$pal_names_start']);

/** Keeps the stock function under another name and puts code, given as text, in its place. */
function putBefore(wat, name, behind, code) {
  const func = wat.funcs.get(name);
  const stock = [...func];
  stock[1] = behind;
  wat.root.splice(wat.root.indexOf(func) + 1, 0, stock);
  wat.funcs.set(behind, stock);
  func.splice(0, Infinity, ...parse(code));
}

/** All places below node that match, found before any of them is changed. */
function placesOf(pattern, node) {
  const tree = parse(pattern);
  const all = [];
  walk(node, (place) => {
    const found = match(tree, place);
    if (found) all.push({ place, ...found });
  });
  return all;
}

export const LONGEST_FILL = 512; // bytes; wazero is quick at longer ones

// Everything is read before anything is written, because the two may overlap: two reads of half the size or more, from both ends.
export const COPY = `(func $pal_copy (param $to i32) (param $from i32) (param $n i32)
  (local $x i32) (local $y i32) (local $z i32) (local $a i64) (local $b i64) (local $c i64) (local $d i64)
  (local $to_end i32) (local $from_end i32)
  (local.set $to_end (i32.add (local.get $to) (local.get $n)))
  (local.set $from_end (i32.add (local.get $from) (local.get $n)))
  (if (i32.lt_u (local.get $n) (i32.const 4)) (then
    (if (i32.eqz (local.get $n)) (then (return)))
    (local.set $x (i32.load8_u (local.get $from)))
    (local.set $y (i32.load8_u (i32.add (local.get $from) (i32.shr_u (local.get $n) (i32.const 1)))))
    (local.set $z (i32.load8_u (i32.sub (local.get $from_end) (i32.const 1))))
    (i32.store8 (local.get $to) (local.get $x))
    (i32.store8 (i32.add (local.get $to) (i32.shr_u (local.get $n) (i32.const 1))) (local.get $y))
    (i32.store8 (i32.sub (local.get $to_end) (i32.const 1)) (local.get $z))
    (return)))
  (if (i32.le_u (local.get $n) (i32.const 8)) (then
    (local.set $x (i32.load align=1 (local.get $from)))
    (local.set $y (i32.load align=1 (i32.sub (local.get $from_end) (i32.const 4))))
    (i32.store align=1 (local.get $to) (local.get $x))
    (i32.store align=1 (i32.sub (local.get $to_end) (i32.const 4)) (local.get $y))
    (return)))
  (if (i32.gt_u (local.get $n) (i32.const 32)) (then
    (memory.copy (local.get $to) (local.get $from) (local.get $n))
    (return)))
  (local.set $a (i64.load align=1 (local.get $from)))
  (local.set $d (i64.load align=1 (i32.sub (local.get $from_end) (i32.const 8))))
  (if (i32.gt_u (local.get $n) (i32.const 16)) (then
    (local.set $b (i64.load offset=8 align=1 (local.get $from)))
    (local.set $c (i64.load align=1 (i32.sub (local.get $from_end) (i32.const 16))))
    (i64.store offset=8 align=1 (local.get $to) (local.get $b))
    (i64.store align=1 (i32.sub (local.get $to_end) (i32.const 16)) (local.get $c))))
  (i64.store align=1 (local.get $to) (local.get $a))
  (i64.store align=1 (i32.sub (local.get $to_end) (i32.const 8)) (local.get $d)))`;

// The last 16 bytes first, then whole steps of 16 up to them.
export const FILL = `(func $pal_fill (param $to i32) (param $value i32) (param $n i32) (local $last i32) (local $v i64)
  (if (i32.ge_u (i32.sub (local.get $n) (i32.const 16)) (i32.const ${LONGEST_FILL - 16})) (then
    (memory.fill (local.get $to) (local.get $value) (local.get $n))
    (return)))
  (local.set $v (i64.mul (i64.extend_i32_u (i32.and (local.get $value) (i32.const 255))) (i64.const 0x0101010101010101)))
  (local.set $last (i32.sub (i32.add (local.get $to) (local.get $n)) (i32.const 16)))
  (i64.store align=1 (local.get $last) (local.get $v))
  (i64.store offset=8 align=1 (local.get $last) (local.get $v))
  (block $done
   (loop $next
    (br_if $done (i32.ge_u (local.get $to) (local.get $last)))
    (i64.store align=1 (local.get $to) (local.get $v))
    (i64.store offset=8 align=1 (local.get $to) (local.get $v))
    (local.set $to (i32.add (local.get $to) (i32.const 16)))
    (br $next))))`;

/**
 * wazero calls into Go's runtime for every memory.copy, and once for each doubling of a memory.fill. MicroPython clears every block
 * that it hands out and copies text a few bytes at a time, so the short ones become loads and stores.
 */
function shortBlocks(wat) {
  const blocks = ['memory.copy', 'memory.fill'].flatMap((name) => placesOf(`(${name} ?to ?what ?size)`, wat.root));
  for (const { place, size } of blocks) {
    if (size[0] !== 'i32.const') place.splice(0, 1, 'call', place[0] === 'memory.copy' ? '$pal_copy' : '$pal_fill');
  }
  wat.add(`${COPY} ${FILL}`);
}

const SEEN = (1 << 16) / 8; // bytes: one bit for each hash of 16 bits that a name has
const RECENT = 1 << 10; // entries: the name found last for each value of the low bits of the hash
const ENTRY = 12; // bytes: number, address of the text, hash and length

/**
 * Every new string is looked for among the names that the engine knows (qstr_find_strn), one after the other. Nearly always it is
 * not there, which one bit for each hash tells; a name that is there is mostly one that was found before. Names are never
 * taken away, and their text stays where it is.
 */
function findNames(wat, { find, compare, pool, add, stored, hash }) {
  putBefore(wat, find, '$pal_find_all', `(func ${find} (param $text i32) (param $length i32) (result i32)
    (local $hash i32) (local $p i32) (local $end i32) (local $entry i32) (local $key i32) (local $number i32)
    (if (i32.eqz (local.get $length)) (then (return (i32.const 1))))
    (if (i32.gt_u (local.get $length) (i32.const 255)) (then (return (i32.const 0))))
    (if (i32.eqz (global.get $pal_names)) (then (call $pal_names_start)))
    (local.set $hash (i32.const 5381))
    (local.set $end (i32.add (local.tee $p (local.get $text)) (local.get $length)))
    (loop $next
     (local.set $hash (i32.xor (i32.mul (local.get $hash) (i32.const 33)) (i32.load8_u (local.get $p))))
     (br_if $next (i32.lt_u (local.tee $p (i32.add (local.get $p) (i32.const 1))) (local.get $end))))
    (local.set $hash (i32.and (local.get $hash) (i32.const 0xffff)))
    (if (i32.eqz (local.get $hash)) (then (local.set $hash (i32.const 1))))
    (if (i32.eqz (i32.and (i32.const 1) (i32.shr_u
         (i32.load8_u (i32.add (global.get $pal_names) (i32.shr_u (local.get $hash) (i32.const 3))))
         (i32.and (local.get $hash) (i32.const 7)))))
     (then (return (i32.const 0))))
    (local.set $entry (i32.add (i32.add (global.get $pal_names) (i32.const ${SEEN}))
     (i32.mul (i32.and (local.get $hash) (i32.const ${RECENT - 1})) (i32.const ${ENTRY}))))
    (local.set $key (i32.or (i32.shl (local.get $hash) (i32.const 8)) (local.get $length)))
    (if (i32.eq (i32.load offset=8 (local.get $entry)) (local.get $key)) (then
     (if (i32.eqz (call ${compare} (i32.load offset=4 (local.get $entry)) (local.get $text) (local.get $length)))
      (then (return (i32.load (local.get $entry)))))))
    (local.set $number (call $pal_find_all (local.get $text) (local.get $length)))
    (if (i32.eqz (local.get $number)) (then (return (i32.const 0))))
    (i32.store (local.get $entry) (local.get $number))
    (i32.store offset=4 (local.get $entry) (call $pal_name_text (local.get $number)))
    (i32.store offset=8 (local.get $entry) (local.get $key))
    (local.get $number))`);
  walk(add, (n) => {
    const at = n.indexOf(stored);
    if (at >= 0) n.splice(at, 0, ['call', '$pal_name_added', structuredClone(hash)]);
  });
  const init = wat.exported('mp_js_init');
  init.splice(bodyStart(init), 0, ['global.set', '$pal_names', ['i32.const', '0']]);
  wat.add(namesKept(wat.exports.get('malloc'), pool));
}

// A pool of names holds: the older one (0), how many names all older ones have with a flag in the top bit (4), how many it has (12),
// their hashes of 16 bits (16) and the addresses of their texts (24 and on).
function namesKept(malloc, pool) {
  return `(global $pal_names (mut i32) (i32.const 0))
    (func $pal_name_added (param $hash i32) (local $at i32)
     (local.set $at (i32.add (global.get $pal_names) (i32.shr_u (local.get $hash) (i32.const 3))))
     (i32.store8 (local.get $at) (i32.or (i32.load8_u (local.get $at))
      (i32.shl (i32.const 1) (i32.and (local.get $hash) (i32.const 7))))))
    (func $pal_name_text (param $number i32) (result i32) (local $pool i32) (local $older i32)
     (local.set $pool (i32.load (i32.const ${pool})))
     (loop $down
      (local.set $older (i32.and (i32.load offset=4 (local.get $pool)) (i32.const 0x7fffffff)))
      (if (i32.lt_u (local.get $number) (local.get $older)) (then
       (local.set $pool (i32.load (local.get $pool)))
       (br $down))))
     (i32.load offset=24 (i32.add (local.get $pool)
      (i32.shl (i32.sub (local.get $number) (local.get $older)) (i32.const 2)))))
    (func $pal_names_start (local $pool i32) (local $left i32) (local $p i32)
     (global.set $pal_names (call ${malloc} (i32.const ${SEEN + RECENT * ENTRY})))
     (if (i32.eqz (global.get $pal_names)) (then (unreachable)))
     (memory.fill (global.get $pal_names) (i32.const 0) (i32.const ${SEEN + RECENT * ENTRY}))
     (local.set $pool (i32.load (i32.const ${pool})))
     (loop $pools
      (if (i32.eqz (local.get $pool)) (then (return)))
      (local.set $left (i32.load offset=12 (local.get $pool)))
      (local.set $p (i32.load offset=16 (local.get $pool)))
      (block $done
       (loop $next
        (br_if $done (i32.eqz (local.get $left)))
        (call $pal_name_added (i32.load16_u (local.get $p)))
        (local.set $p (i32.add (local.get $p) (i32.const 2)))
        (local.set $left (i32.sub (local.get $left) (i32.const 1)))
        (br $next)))
      (local.set $pool (i32.load (local.get $pool)))
      (br $pools)))`;
}

/** Whether a local holds a string itself: a name (its low bits are 010) or an object of exactly that type. */
function isText(local, type) {
  return `(if (result i32) (i32.eq (i32.and (local.get ${local}) (i32.const 7)) (i32.const 2)) (then (i32.const 1))
    (else (if (result i32) (i32.and (local.get ${local}) (i32.const 3)) (then (i32.const 0))
     (else (i32.eq (i32.load (local.get ${local})) (i32.const ${type}))))))`;
}

/** mp_obj_equal of small integers (their lowest bit is 1) and strings, which are the keys that programs have. */
function quickEqual(wat, { equal, equalStrings, stringType }) {
  putBefore(wat, equal, '$pal_equal_all', `(func ${equal} (param $a i32) (param $b i32) (result i32)
    (if (i32.and (i32.and (local.get $a) (local.get $b)) (i32.const 1)) (then
     (return (i32.eq (local.get $a) (local.get $b)))))
    (if ${isText('$b', stringType)}
     (then
      (if (i32.and (local.get $a) (i32.const 1)) (then (return (i32.const 0))))
      (if ${isText('$a', stringType)} (then (return (call ${equalStrings} (local.get $a) (local.get $b))))))
     (else (if (i32.and (local.get $b) (i32.const 1)) (then
      (if ${isText('$a', stringType)} (then (return (i32.const 0))))))))
    (call $pal_equal_all (local.get $a) (local.get $b)))`);
}

/**
 * The search for a key in a dictionary or a set. Small integers are compared on the spot and are their own hash; the next
 * slot is found without a division. All this before pointers are spilled, so that the short way spills none.
 */
function searchTables(wat, { lookups, equal, unaryOperation }) {
  for (const func of lookups) {
    const both = placesOf(`(call ${equal} (local.get ?a) (local.get ?b))`, func);
    const steps = placesOf('(i32.rem_u (i32.add (local.get ?at) (i32.const 1)) ?size)', func);
    const hashes = placesOf(`(call ${unaryOperation} (i32.const 6) (local.get ?key))`, func);
    for (const { place, a, b } of both) {
      place.splice(0, Infinity, ...parse(`(if (result i32) (i32.and (i32.and (local.get ${a}) (local.get ${b})) (i32.const 1))
        (then (i32.eq (local.get ${a}) (local.get ${b}))) (else (call ${equal} (local.get ${a}) (local.get ${b}))))`));
    }
    for (const { place, at, size } of steps) {
      const next = ['i32.add', ['local.get', at], ['i32.const', '1']];
      place.splice(0, Infinity, 'if', ['result', 'i32'], ['i32.lt_u', next, size],
        ['then', structuredClone(next)], ['else', ['i32.rem_u', structuredClone(next), structuredClone(size)]]);
    }
    for (const { place, key } of hashes) {
      place.splice(0, Infinity, ...parse(`(if (result i32) (i32.and (local.get ${key}) (i32.const 1)) (then (local.get ${key}))
        (else (call ${unaryOperation} (i32.const 6) (local.get ${key}))))`));
    }
  }
}

/** Text in quotes is written with mp_printf(print, "%c", …) for each character: print's own function is called instead. */
function writeCharacters(wat, sites) {
  const table = wat.root.find((field) => field[0] === 'table')[1];
  for (const { place, print, args } of sites) {
    const [data, write] = ['', 'offset=4'].map((at) => parse(`(i32.load ${at} (local.get ${print}))`));
    place.splice(0, Infinity, ...parse(`(call_indirect ${table} (param i32 i32 i32))`), data, args, ['i32.const', '1'], write);
  }
}

/** JSON is parsed from a stream, character by character. Nearly always the stream is StringIO over the text: read there at once. */
function readCharacters(wat, { next, stringRead }) {
  putBefore(wat, next, '$pal_next_all', `(func ${next} (param $s i32) (result i32)
    (local $o i32) (local $vstr i32) (local $at i32) (local $c i32)
    (block $stock
     (br_if $stock (i32.ne (i32.load offset=4 (local.get $s)) (i32.const ${stringRead})))
     (br_if $stock (i32.load offset=8 (local.get $s)))
     (br_if $stock (i32.eqz (local.tee $vstr (i32.load offset=4 (local.tee $o (i32.load (local.get $s)))))))
     (br_if $stock (i32.le_u (i32.load offset=4 (local.get $vstr)) (local.tee $at (i32.load offset=8 (local.get $o)))))
     (local.set $c (i32.load8_u (i32.add (i32.load offset=8 (local.get $vstr)) (local.get $at))))
     (i32.store offset=8 (local.get $o) (i32.add (local.get $at) (i32.const 1)))
     (i32.store8 offset=12 (local.get $s) (local.get $c))
     (return (local.get $c)))
    (call $pal_next_all (local.get $s)))`);
}

// The index, at or after at, of the first byte with a free block; that of the last byte if there is none.
export const FIRST_FREE = `(func $pal_first_free (param $table i32) (param $at i32) (param $end i32) (result i32) (local $free i64)
  (block $few
   (loop $next
    (br_if $few (i32.gt_u (i32.add (local.get $at) (i32.const 8)) (local.get $end)))
    (local.set $free (i64.load align=1 (i32.add (local.get $table) (local.get $at))))
    (local.set $free (i64.and (i64.const 0x5555555555555555) (i64.xor (i64.const -1)
     (i64.or (local.get $free) (i64.shr_u (local.get $free) (i64.const 1))))))
    (if (i64.ne (local.get $free) (i64.const 0)) (then
     (return (i32.add (local.get $at) (i32.wrap_i64 (i64.shr_u (i64.ctz (local.get $free)) (i64.const 3)))))))
    (local.set $at (i32.add (local.get $at) (i32.const 8)))
    (br $next)))
  (local.set $end (i32.sub (local.get $end) (i32.const 1)))
  (block $done
   (loop $next
    (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
    (local.set $free (i64.load8_u (i32.add (local.get $table) (local.get $at))))
    (br_if $done (i64.ne (i64.const 0x55) (i64.and (i64.const 0x55)
     (i64.or (local.get $free) (i64.shr_u (local.get $free) (i64.const 1))))))
    (local.set $at (i32.add (local.get $at) (i32.const 1)))
    (br $next)))
  (select (local.get $at) (local.get $end) (i32.lt_u (local.get $at) (local.get $end))))`;

/**
 * gc_alloc looks at the blocks one by one, from the first that may be free. Bytes without a free block are skipped here, eight
 * at a time; what is found, and so where MemoryError comes, stays the same.
 */
function skipUsedBlocks(wat, searches) {
  for (const { loop, byte, table, at, end, carry } of searches) {
    loop.splice(2, 0, parse(`(if (i32.eq (i32.const 0x55) (i32.and (i32.const 0x55) (i32.or
       (local.tee ${byte} (i32.load8_u (i32.add (local.get ${table}) (local.get ${at}))))
       (i32.shr_u (local.get ${byte}) (i32.const 1)))))
      (then ${carry ? `(local.set ${carry} (i32.const 0))` : ''}
       (local.set ${at} (call $pal_first_free (local.get ${table}) (local.get ${at}) (local.get ${end})))))`));
  }
  wat.add(FIRST_FREE);
}

/** Text grows by 16 bytes at a time, and gc_realloc counts its blocks each time: sixteen at once where all are tails. */
function countTails({ loop, label, area, at, end, first, second }) {
  const more = [at, first, second].map((name) => `(local.set ${name} (i32.add (local.get ${name}) (i32.const 16)))`).join(' ');
  loop.splice(2, 0, parse(`(if (i32.and (i32.eq (i32.and (local.get ${at}) (i32.const 3)) (i32.const 3))
     (i32.le_u (i32.add (local.get ${at}) (i32.const 17)) (local.get ${end})))
    (then (if (i32.eq (i32.const 0xaaaaaaaa) (i32.load align=1 (i32.add (i32.load offset=4 (local.get ${area}))
      (i32.shr_u (i32.add (local.get ${at}) (i32.const 1)) (i32.const 2)))))
     (then ${more} (br ${label})))))`));
}

/** Does all of this; places are those of findShortcuts. */
export function quicken(wat, places) {
  findNames(wat, places.names);
  quickEqual(wat, places);
  searchTables(wat, places);
  writeCharacters(wat, places.characters);
  readCharacters(wat, places.json);
  skipUsedBlocks(wat, places.searches);
  countTails(places.tails);
  shortBlocks(wat);
}
