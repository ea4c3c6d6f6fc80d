import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import WebSocket from "ws";
import { Client, startServer } from "./client.mjs";

let folder, server, client;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "peer-"));
  server = await startServer(["--ready-file", join(folder, "ready")]);
  client = await Client.connect(server.url);
});

after(async () => {
  await client.close();
  await server.stop();
  rmSync(folder, { recursive: true });
});

test("the ready file names the address and the process", () => {
  const ready = JSON.parse(readFileSync(join(folder, "ready"), "utf8"));
  assert.deepEqual(ready, { url: server.url, pid: server.pid });
});

for (const [name, code, stdout] of [
  ["nothing printed", "x=1", ""],
  ["lines", "print(1)\nprint('two')", "1\ntwo\n"],
  ["a last line without its newline", "print('open', end='')", "open"],
  ["text outside ASCII", "print('é😀')", "é😀\n"],
  ["globals of the run before", "print(x)", "1\n"],
]) {
  test(`a program is answered with its output: ${name}`, async () => {
    const { id, ...rest } = await client.exec(code);
    assert.deepEqual(rest, { stdout, error: null });
  });
}

test("a failing program is answered with its output so far and the traceback", async () => {
  const { stdout, error } = await client.exec("print('before')\n1/0");
  assert.equal(stdout, "before\n");
  assert.match(error, /^Traceback[^]*ZeroDivisionError/);
});

test("Pin calls the host once a call and the host keeps the level", async () => {
  const start = (await client.stats()).pin_calls;
  const { stdout, error } = await client.exec(
    "from machine import Pin\np = Pin(5, Pin.OUT)\np.off()\nprint(p.value())\np.on()\nprint(p.value())\np.value(0)\nPin(6, Pin.OUT, 1)",
  );
  assert.deepEqual({ stdout, error }, { stdout: "0\n1\n", error: null });
  const { pin_calls: calls, levels, rss_bytes: rss } = await client.stats();
  assert.equal(calls - start, 6);
  assert.deepEqual(levels, { 5: 0, 6: 1 });
  assert.ok(rss > 1 << 20);
});

test("what is not a request is answered with an error and the connection lives on", async () => {
  const socket = new WebSocket(server.url);
  await new Promise((resolve) => socket.once("open", resolve));
  const ask = (data) =>
    new Promise((resolve) => {
      socket.once("message", (answer) => resolve(JSON.parse(answer)));
      socket.send(data);
    });
  assert.deepEqual(await ask("{"), { id: null, stdout: "", error: "not JSON" });
  assert.deepEqual(await ask("null"), { id: null, stdout: "", error: "no code" });
  assert.deepEqual(await ask('{"id":"a"}'), { id: "a", stdout: "", error: "no code" });
  assert.deepEqual(await ask('{"id":7,"code":"print(7)"}'), { id: 7, stdout: "7\n", error: null });
  socket.close();
});
