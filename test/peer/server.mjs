// The peer: a bare WebSocket server over the stock engine. {"id","code"} is answered by {"id","stdout","error"};
// {"id","stats":true} by {"id","rss_bytes","pin_calls","levels"}. It listens on loopback only: it has no guard at all.
//
//   node server.mjs [--port N] [--ready-file FILE]
//
// Once it accepts connections it prints one line of JSON, {"url","pid"}, and writes the same to FILE if one is given.
import { renameSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { WebSocketServer } from "ws";
import { Engine } from "./engine.mjs";

const { values: options } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    "ready-file": { type: "string" },
  },
});

const engine = await Engine.start();

function answer(data) {
  let request;
  try {
    request = JSON.parse(data);
  } catch {
    return { id: null, stdout: "", error: "not JSON" };
  }
  const { id = null, code, stats } = request ?? {};
  if (stats === true) {
    return {
      id,
      rss_bytes: process.memoryUsage.rss(),
      pin_calls: engine.pinCalls,
      levels: Object.fromEntries(engine.levels),
    };
  }
  if (typeof code !== "string") return { id, stdout: "", error: "no code" };
  return { id, ...engine.run(code) };
}

const server = new WebSocketServer({ host: "127.0.0.1", port: Number(options.port) });

server.on("error", (e) => {
  console.error(`listen: ${e.message}`);
  process.exit(1);
});

server.on("listening", () => {
  const ready = JSON.stringify({ url: `ws://127.0.0.1:${server.address().port}`, pid: process.pid });
  if (options["ready-file"]) {
    const file = options["ready-file"];
    writeFileSync(`${file}.part`, ready + "\n");
    renameSync(`${file}.part`, file); // whoever waits for the file never sees half of it
  }
  console.log(ready);
});

server.on("connection", (socket) => {
  socket.on("message", (data) => socket.send(JSON.stringify(answer(data.toString()))));
  socket.on("error", () => socket.terminate());
});

for (const signal of ["SIGTERM", "SIGINT"]) {
  process.on(signal, () => process.exit(0));
}
