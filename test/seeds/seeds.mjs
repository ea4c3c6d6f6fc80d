// A plain WebSocket client of another language: every request of the two specifications that PAL was built from, sent as it
// stands there, its answer checked for field names, types and effect. Run by seeds_test.go:
//
//     node seeds.mjs ws://HOST:PORT/pal TOKEN
//
// What needs tasks must be refused clearly until it comes.
import { createRequire } from "node:module";
import assert from "node:assert/strict";

const WebSocket = createRequire(new URL("../peer/package.json", import.meta.url))("ws");
const [url, token] = process.argv.slice(2);
const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));

const inbox = [];
const waiting = [];
socket.on("message", (data) => {
  const message = JSON.parse(data.toString());
  const next = waiting.shift();
  if (next) next(message);
  else inbox.push(message);
});
const receive = () =>
  inbox.length ? Promise.resolve(inbox.shift()) : new Promise((resolve) => waiting.push(resolve));

let cases = 0;
/** Sends one request and checks the result's fixed fields; want holds fields that must be equal. */
async function ask(request, want = {}) {
  socket.send(typeof request === "string" ? request : JSON.stringify(request));
  const answer = await receive();
  cases++;
  const sent = typeof request === "string" ? JSON.parse(request) : request;
  assert.equal(answer.version, "1");
  assert.equal(answer.id, sent.id ?? null, "the id is returned as it was sent");
  if (answer.type === "result") {
    assert.equal(typeof answer.stdout, "string");
    assert.equal(typeof answer.stderr, "string");
    assert.equal(typeof answer.error, "boolean");
    assert.ok(Number.isInteger(answer.exec_time_ms), "exec_time_ms is a whole number");
    assert.equal(typeof answer.truncated, "boolean");
  }
  for (const [key, value] of Object.entries(want)) {
    assert.deepEqual(answer[key], value, `${key} of the answer to ${JSON.stringify(request)}: ${JSON.stringify(answer)}`);
  }
  return answer;
}

/** The level of a pin as the guard has it. */
const level = async (pin) => (await ask({ type: "pin_read", pin }, { error: false })).value;
const fine = { type: "result", error: false, truncated: false };
const refused = { type: "result", error: true };

// The exchange of the summary, and the exec message of the specification with its "tool": null.
await ask(
  '{"version": "1", "id": "msg_001", "type": "exec", "code": "from machine import Pin; Pin(5, Pin.OUT).on()", "timeout_ms": 10000}',
  { ...fine, id: "msg_001", stdout: "", stderr: "" });
assert.equal(await level(5), 1);
await ask({ type: "pin_set", pin: 5, value: 0 }, fine);
await ask(
  '{"version": "1", "id": "msg_001", "type": "exec", "tool": null, "code": "led = Pin(5, Pin.OUT); led.on()", "timeout_ms": 10000}',
  { type: "result", code: "id_reused" }); // the two examples share an id; the second is another request
await ask(
  '{"version": "1", "id": "msg_002", "type": "exec", "tool": null, "code": "led = Pin(5, Pin.OUT); led.on()", "timeout_ms": 10000}', fine);
assert.equal(await level(5), 1);

// Short forms.
await ask('{"code":"Pin(5).on()"}', fine);
assert.equal(await level(5), 1);
await ask('{"id":"1","code":"Pin(5).toggle()"}', fine);
assert.equal(await level(5), 0);
await ask('{"id":"2","type":"exec","code":"from machine import Pin; led=Pin(5,Pin.OUT); led.on()"}', fine);
assert.equal(await level(5), 1);

// What is always refused: OSError in Python, an error in the result.
for (const code of [
  "import machine\nmachine.Pin(0, machine.Pin.OUT)",
  "import network\nnetwork.WLAN().connect('...')",
  "import machine\nmachine.WDT(0)",
]) {
  const answer = await ask({ type: "exec", code }, refused);
  assert.equal(answer.exception.class, "OSError", JSON.stringify(answer));
}

// What is always allowed.
await ask({ type: "exec", code: "import machine\nled = machine.Pin(5, machine.Pin.OUT)\nled.on()\nadc = machine.ADC(machine.Pin(1))\ntemp = adc.read()" }, fine);
const raw = await ask({ type: "exec", code: "ADC(Pin(1)).read()" }, fine);
assert.match(raw.stdout, /^\d+\n$/);

// Gluing: read, judge, act.
await ask({ type: "exec", code: [
  "from machine import Pin, ADC, I2C",
  "temp = ADC(Pin(1)).read()",
  "relay = Pin(5, Pin.OUT)",
  "if temp > 2000:",
  "    relay.on()",
].join("\n") }, fine);

// board.py: functions, names, and the workflow around them.
await ask({ type: "pin_set", pin: "LED", value: 0 }, fine);
await ask({ type: "exec", code: "import board; board.toggle_led()" }, fine);
assert.equal(await level("LED"), 1);
await ask({ type: "exec", code: "toggle_led()" }, fine);
assert.equal(await level("LED"), 0);
await ask({ type: "exec", code: "relay_on(1)" }, fine);
assert.equal(await level(13), 1);
await ask({ type: "subscribe", events: ["user:overtemp_shutdown", "user:temp_warning", "user:overtemp"] }, { type: "ack" });
socket.send(JSON.stringify({ type: "exec", code: [
  "temp = 50 + 0 * read_temperature()",
  "if temp > 60:",
  "    power_off()",
  '    event_push("overtemp_shutdown")',
  "elif temp > 45:",
  "    toggle_led()",
  '    event_push("temp_warning", {"temp": temp})',
].join("\n") }));
cases++;
// Result and event come on one connection; which is first is not promised.
const pair = [await receive(), await receive()];
const event = pair.find((m) => m.type === "event");
assert.ok(pair.some((m) => m.type === "result" && m.error === false), JSON.stringify(pair));
assert.ok(event, JSON.stringify(pair));
assert.equal(event.type, "event");
assert.equal(event.event, "user:temp_warning");
assert.match(event.id, /^evt_\d+$/);
assert.deepEqual(event.data, { temp: 50 });
assert.ok(Number.isInteger(event.timestamp_ms));
await ask({ type: "unsubscribe" }, { type: "ack" });
await ask({ type: "exec", code: "power_off()" }, fine);
assert.equal(await level("RELAY_POWER"), 0);

// An endless loop is ended by its own timeout.
await ask({ type: "exec", code: "while True: pass", timeout_ms: 300 }, { ...refused, code: "deadline" });

// A task is registered by a message with a brief and no type, runs by itself, and is cancelled.
const led = await level("LED");
const registered = await ask('{"brief": {"name": "blink", "interval_ms": 20, "max_runs": 1, "resources": ["LED"]}, "code": "Pin(5, Pin.OUT).toggle()"}', { type: "task" });
assert.deepEqual([registered.task_id, registered.status], ["001", "registered"]);
for (let late = Date.now() + 10000; (await level("LED")) === led; ) assert.ok(Date.now() < late, "the task did not run");
await ask({ id: "9", type: "cancel", task_id: "001" }, { type: "task" });
const before = await level("LED");
await ask({ id: "10", type: "tool", tool: "toggle_led" }, fine);
assert.notEqual(await level("LED"), before);
await ask({ id: "11", type: "status" }, { type: "status" });
socket.send(JSON.stringify({ id: "12", type: "result", target: "2" }));
cases++;
const stored = await receive(); // the stored answer, addressed to this request
assert.deepEqual([stored.id, stored.type, stored.error], ["12", "result", false]);
const scan = await ask({ id: "13", type: "exec", code: "import machine; [hex(d) for d in I2C(0).scan()]" }, fine);
assert.match(scan.stdout, /'0x38'/);

socket.close();
console.log(`${cases} requests of the specifications answered as they say`);
