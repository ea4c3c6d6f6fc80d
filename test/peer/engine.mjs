// The stock engine, in this process, with nothing between a program and the host: no deadline, no memory limit, no rules.
import { loadMicroPython } from "@micropython/micropython-webassembly-pyscript/micropython.mjs";

// What a program imports as `machine`: one class over one host function. The host keeps the level and counts the call.
// The function is a captured variable, the quickest name the engine can look up.
const machine = `
def _machine(host):
    class Pin:
        IN = 0
        OUT = 1

        def __init__(self, id, mode=OUT, value=None):
            self._id = id
            if value is not None:
                self.value(value)

        def on(self):
            host(self._id, 1)

        def off(self):
            host(self._id, 0)

        def value(self, level=None):
            if level is None:
                return host(self._id, -1)
            host(self._id, 1 if level else 0)

    class Machine:
        pass

    Machine.Pin = Pin
    return Machine

def _install():
    import sys
    import _peer
    sys.modules["machine"] = _machine(_peer.pin)

_install()
del _install, _machine
`;

/**
 * Engine runs programs one after another in one interpreter, whose globals stay from one program to the next.
 */
export class Engine {
  #mp;
  #out = [];

  /** Calls of the host's pin function since the start, reads included. */
  pinCalls = 0;

  /** The level of each pin that was ever written, by number. */
  levels = new Map();

  static async start() {
    const engine = new Engine();
    engine.#mp = await loadMicroPython({
      linebuffer: false, // in its line mode the engine holds back the last line if no newline ends it
      stdout: (bytes) => engine.#out.push(bytes[0]),
      stderr: () => {},
    });
    engine.#mp.registerJsModule("_peer", { pin: (id, level) => engine.#pin(id, level) });
    engine.#mp.runPython(machine);
    return engine;
  }

  /** run executes code to its end. error is the traceback, or null. */
  run(code) {
    this.#out = [];
    let error = null;
    try {
      this.#mp.runPython(code);
    } catch (e) {
      error = e.message;
    }
    const stdout = this.#out.length === 0 ? "" : Buffer.from(this.#out).toString();
    return { stdout, error };
  }

  #pin(id, level) {
    this.pinCalls++;
    if (level < 0) return this.levels.get(id) ?? 0;
    this.levels.set(id, level);
    return level;
  }
}
