// Starts the peer and speaks to it: one request at a time, each waiting for its answer.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import WebSocket from "ws";

/** startServer starts server.mjs in a process of its own and waits until it is ready. */
export async function startServer(args = []) {
  const program = fileURLToPath(new URL("server.mjs", import.meta.url));
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([once(lines, "line"), exited.then(([code]) => code)]);
  if (!Array.isArray(first)) throw new Error(`the server ended with status ${first}`);
  return {
    ...JSON.parse(first[0]),
    async stop() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

/** Client is one connection. It allows one request in flight. */
export class Client {
  #socket;
  #waiting = null;
  #id = 0;

  static async connect(url) {
    const client = new Client();
    const socket = new WebSocket(url, { perMessageDeflate: false });
    client.#socket = socket;
    socket.on("message", (data) => client.#settle((w) => w.resolve(JSON.parse(data.toString()))));
    socket.on("close", () => client.#settle((w) => w.reject(new Error("the connection closed"))));
    await once(socket, "open");
    socket.on("error", (e) => client.#settle((w) => w.reject(e)));
    return client;
  }

  #settle(how) {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting) how(waiting);
  }

  async #request(fields) {
    if (this.#waiting) throw new Error("a request is in flight already");
    const id = ++this.#id;
    const answer = await new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.send(JSON.stringify({ id, ...fields }));
    });
    if (answer.id !== id) throw new Error(`got the answer to ${answer.id}, want ${id}`);
    return answer;
  }

  /** exec runs code and returns the server's answer; an error in the program is part of it. */
  exec(code) {
    return this.#request({ code });
  }

  stats() {
    return this.#request({ stats: true });
  }

  async close() {
    const closed = once(this.#socket, "close");
    this.#socket.close();
    await closed;
  }
}
