// Checks every NNN_topic.py of this folder against its .out file: on the stock MicroPython WebAssembly engine under
// Node, and on python3 unless the program's first line is "# micropython-only".
//
//   node check.mjs [--engine FOLDER] [--python COMMAND | --no-python] [--update] [PART-OF-NAME ...]
//
// --update writes the .out files: from python3, or from the stock engine for the marked programs. Read what changed.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const here = dirname(fileURLToPath(import.meta.url));
const defaultEngine = join(here, "../../micropython/rewrite/node_modules/@micropython/micropython-webassembly-pyscript");
const heapBytes = 1 << 20; // the heap a terminal gives its programs
const slowMs = 300;
const marker = "# micropython-only";
const runsMain = /^asyncio\.run\(main\(\)\)$/m; // the stock engine's loop is JavaScript's: there main() is a task that is awaited

const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    engine: { type: "string", default: process.env.MICROPYTHON_ENGINE || defaultEngine },
    python: { type: "string", default: "python3" },
    "no-python": { type: "boolean", default: false },
    update: { type: "boolean", default: false },
    run: { type: "string" }, // one program on the stock engine, for onEngineApart
  },
});

const entry = join(resolve(options.engine), "micropython.mjs");
if (!existsSync(entry)) {
  console.error(`no stock engine at ${entry}: run "npm ci" in micropython/rewrite, or pass --engine FOLDER`);
  process.exit(2);
}
const { loadMicroPython } = await import(pathToFileURL(entry).href);

// onEngine runs source in a fresh interpreter. An uncaught exception is a failure whatever was printed.
async function onEngine(source) {
  const chunks = [];
  const mp = await loadMicroPython({
    heapsize: heapBytes,
    linebuffer: false,
    stdout: (bytes) => chunks.push(bytes),
    stderr: () => {},
  });
  const started = performance.now();
  let error = "";
  try {
    if (runsMain.test(source)) await mp.runPythonAsync(source.replace(runsMain, "await asyncio.create_task(main())"));
    else mp.runPython(source);
  } catch (e) {
    error = e.message.trim();
  }
  return { stdout: Buffer.concat(chunks), error, ms: performance.now() - started };
}

// onEngineApart runs a program with an event loop in a process of its own: timers that a program leaves in JavaScript's loop
// would go off in the interpreter of the next.
function onEngineApart(file) {
  const done = spawnSync(process.execPath, [fileURLToPath(import.meta.url), "--engine", options.engine, "--run", file]);
  if (done.error) throw done.error;
  return { stdout: done.stdout, error: done.stderr.toString().trim(), ms: 0 }; // the process takes most of the time
}

function onPython(file) {
  const done = spawnSync(options.python, ["-I", "-W", "ignore", "-X", "utf8", file], { input: "" });
  if (done.error) throw done.error;
  return { stdout: done.stdout, error: done.status === 0 ? "" : done.stderr.toString().trim() };
}

// problem describes the first way in which a run differs from what is expected, or returns "".
function problem(run, want) {
  if (run.error) return `raised: ${run.error.split("\n").at(-1)}`;
  if (run.stdout.equals(want)) return "";
  const got = run.stdout.toString().split("\n");
  const expected = want.toString().split("\n");
  const i = expected.findIndex((line, k) => line !== got[k]);
  const at = i < 0 ? expected.length : i;
  return `line ${at + 1}: got ${JSON.stringify(got[at])}, want ${JSON.stringify(expected[at])}`;
}

function havePython() {
  if (options["no-python"]) return false;
  if (spawnSync(options.python, ["--version"]).status === 0) return true;
  console.log(`note: ${options.python} does not run here; only the stock engine is checked`);
  return false;
}

if (options.run) {
  const { stdout, error } = await onEngine(readFileSync(options.run, "utf8"));
  writeFileSync(1, stdout);
  writeFileSync(2, error);
  process.exit(0); // whatever timers are left
}
const python = havePython();
if (options.update && !python) {
  console.error("--update needs python3");
  process.exit(2);
}
const names = readdirSync(here)
  .filter((n) => /^\d{3}_\w+\.py$/.test(n))
  .filter((n) => wanted.length === 0 || wanted.some((w) => n.includes(w)))
  .sort();

let failures = 0;
let both = 0;
const fail = (name, where, what) => {
  failures++;
  console.log(`FAIL ${name} on ${where}: ${what}`);
};

for (const name of names) {
  const file = join(here, name);
  const outFile = file.replace(/\.py$/, ".out");
  const source = readFileSync(file, "utf8");
  const stock = runsMain.test(source) ? onEngineApart(file) : await onEngine(source);
  const shared = !source.startsWith(marker);
  const reference = shared && python ? onPython(file) : null;
  if (options.update) writeFileSync(outFile, (reference ?? stock).stdout);
  if (!existsSync(outFile)) {
    fail(name, "disk", "no .out file");
    continue;
  }
  const want = readFileSync(outFile);
  if (want.length === 0) fail(name, "disk", "the .out file is empty");
  const onStock = problem(stock, want);
  if (onStock) fail(name, "stock engine", onStock);
  if (stock.ms > slowMs) console.log(`slow ${name}: ${stock.ms.toFixed(0)} ms`);
  if (reference) {
    both++;
    const onReference = problem(reference, want);
    if (onReference) fail(name, options.python, onReference);
  }
}

console.log(`${names.length} programs on the stock engine, ${both} of them also on python3, ${failures} failures`);
process.exit(failures || names.length === 0 ? 1 : 0);
