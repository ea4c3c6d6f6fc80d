// Measures the peer over WebSocket: exec round trip, pin toggles, Python speed, memory.
//
//   node bench.mjs [--json] [--url ws://…] [--execs N] [--repeats N]
//
// Without --url it starts server.mjs itself. Every program's output is checked; a wrong one ends the run.
import { readFileSync, readdirSync } from "node:fs";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { Client, startServer } from "./client.mjs";

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    url: { type: "string" },
    execs: { type: "string", default: "20000" },
    repeats: { type: "string", default: "5" },
  },
});

const atLeastOne = (name) => {
  const n = Number(options[name]);
  if (!Number.isInteger(n) || n < 1) {
    console.error(`--${name} takes a whole number from 1 up, got ${options[name]}`);
    process.exit(2);
  }
  return n;
};
const execs = atLeastOne("execs");
const repeats = atLeastOne("repeats");
const warmUpExecs = Math.min(execs, 2000);
const togglePairs = 20000; // the turns of programs/pin_toggle.py

const text = (path) => readFileSync(new URL(path, import.meta.url), "utf8");

// quantile of sorted values: the smallest one that at least the share q of them does not exceed.
const quantile = (sorted, q) => sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)];

function summary(values) {
  const sorted = Float64Array.from(values).sort();
  return { n: sorted.length, min: sorted[0], p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), max: sorted.at(-1) };
}

// timed runs one program and returns its milliseconds from request to answer.
async function timed(client, code, want) {
  const started = performance.now();
  const { stdout, error } = await client.exec(code);
  const ms = performance.now() - started;
  if (error !== null) throw new Error(error);
  if (stdout !== want) throw new Error(`got output ${JSON.stringify(stdout)}, want ${JSON.stringify(want)}`);
  return ms;
}

async function repeat(client, code, want) {
  await timed(client, code, want); // the first run warms the compiler
  const ms = [];
  for (let i = 0; i < repeats; i++) ms.push(await timed(client, code, want));
  return summary(ms);
}

async function roundTrip(client) {
  const code = text("programs/assign.py");
  for (let i = 0; i < warmUpExecs; i++) await timed(client, code, "");
  const us = new Float64Array(execs);
  for (let i = 0; i < execs; i++) us[i] = 1000 * (await timed(client, code, ""));
  return summary(us);
}

async function pinToggles(client) {
  const before = (await client.stats()).pin_calls;
  const ms = await repeat(client, text("programs/pin_toggle.py"), text("programs/pin_toggle.out"));
  const calls = ((await client.stats()).pin_calls - before) / (repeats + 1);
  const want = 2 * togglePairs + 1; // the last call of each run reads the pin
  if (calls !== want) throw new Error(`the host counted ${calls} pin calls a run, want ${want}`);
  const perSecond = (milliseconds) => (1000 * togglePairs) / milliseconds;
  return { pairs: togglePairs, median_pairs_per_s: perSecond(ms.p50), best_pairs_per_s: perSecond(ms.min) };
}

async function pythonRows(client) {
  const rows = {};
  for (const file of readdirSync(new URL("rows/", import.meta.url)).sort()) {
    if (!file.endsWith(".py")) continue;
    const name = file.slice(0, -".py".length);
    rows[name] = await repeat(client, text(`rows/${file}`), text(`rows/${name}.out`));
  }
  return rows;
}

async function measure(url) {
  const client = await Client.connect(url);
  const rssAtStart = (await client.stats()).rss_bytes;
  const result = {
    node: process.version,
    cpus: cpus().length,
    exec_us: await roundTrip(client),
    pin: await pinToggles(client),
    python_ms: await pythonRows(client),
  };
  result.rss_bytes = { start: rssAtStart, end: (await client.stats()).rss_bytes };
  await client.close();
  return result;
}

function table(r) {
  const f = (x, digits = 1) => x.toFixed(digits).padStart(10);
  const mib = (bytes) => f(bytes / (1 << 20));
  const lines = [
    `Node ${r.node}, ${r.cpus} CPUs`,
    "",
    `${"round trip".padEnd(18)}${["p50", "p99", "min", "max"].map((h) => h.padStart(10)).join("")}`,
    `${"exec x=1, µs".padEnd(18)}${f(r.exec_us.p50)}${f(r.exec_us.p99)}${f(r.exec_us.min)}${f(r.exec_us.max)}   n=${r.exec_us.n}`,
    "",
    `${"pin pairs a second".padEnd(18)}${f(r.pin.median_pairs_per_s, 0)} median${f(r.pin.best_pairs_per_s, 0)} best`,
    "",
    `${"Python, ms".padEnd(18)}${["median", "min", "max"].map((h) => h.padStart(10)).join("")}`,
    ...Object.entries(r.python_ms).map(([name, s]) => `${name.padEnd(18)}${f(s.p50)}${f(s.min)}${f(s.max)}`),
    "",
    `${"memory, MiB".padEnd(18)}${mib(r.rss_bytes.start)} at start${mib(r.rss_bytes.end)} at the end`,
  ];
  return lines.join("\n");
}

const server = options.url ? null : await startServer();
try {
  const result = await measure(options.url ?? server.url);
  console.log(options.json ? JSON.stringify(result, null, 2) : table(result));
} finally {
  await server?.stop();
}
