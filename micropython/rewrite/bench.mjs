// Times the programs of enginetest/testdata on the stock file under Node, one line each: name and milliseconds of
// processor time, the best of many runs. The other column is "go test -bench Program ./micropython/rewrite/enginetest".

import { readdir, readFile } from 'node:fs/promises';

import { loadMicroPython } from '@micropython/micropython-webassembly-pyscript/micropython.mjs';

const folder = new URL('./enginetest/testdata/', import.meta.url);
const atLeast = 1000; // ms for each program

for (const name of (await readdir(folder)).filter((file) => file.endsWith('.py')).sort()) {
  const program = await readFile(new URL(name, folder), 'utf8');
  const machine = await loadMicroPython({ heapsize: 1 << 20 });
  let best = Infinity;
  let sum = 0;
  let runs = 0;
  for (; sum < atLeast; runs++) {
    const start = process.cpuUsage();
    machine.runPython(program);
    const { user, system } = process.cpuUsage(start);
    const took = (user + system) / 1000;
    best = Math.min(best, took);
    sum += took;
  }
  console.log(`${name.slice(0, -3).padEnd(16)} ${best.toFixed(2)} best ${(sum / runs).toFixed(2)} mean`);
}
