// A page whose clock, timers and turns are played, and a package of its own in it: what happens is exact.

let pages = 0;

class PlayedDocument extends EventTarget {
  hidden = false;
  listened = [];

  // As pages do, and Node does not, it takes anything for a boolean.
  addEventListener(name, call, capture) {
    this.listened.push(name);
    super.addEventListener(name, call, Boolean(capture));
  }
}

/** Opens a page. `host`: by what it asks for turns, "setImmediate", "MessageChannel" or "setTimeout". */
export async function openPage({ host = "setImmediate", step = 0 } = {}) {
  const page = {
    /** The true time, in ms. */
    time: 1000,
    document: new PlayedDocument(),
    turns: [],
    timers: [],
    asked: 0,
    /** Whether input waits. */
    pending: false,
    /** Work of so many ms. */
    work(ms) {
      page.time += ms;
    },
    /** What the clock shows: it may be coarse. */
    clock: () => (step ? Math.floor(page.time / step) * step : page.time),
    /** The next turn that was asked for, or the next timer; false if there is neither. */
    async turn() {
      const next = page.turns.shift();
      if (next) next();
      else if (!page.timer()) return false;
      await settled();
      return true;
    },
    /** The next timer is due. */
    timer() {
      const [first] = page.timers.sort((a, b) => a.due - b.due || a.id - b.id);
      if (!first) return false;
      page.timers.shift();
      page.time = Math.max(page.time, first.due);
      first.call(...first.rest);
      return true;
    },
    async run(turns = 100_000) {
      while (turns-- > 0 && (await page.turn()));
    },
  };
  const ask = (call) => {
    page.asked++;
    page.turns.push(call);
    return page.asked;
  };
  let ids = 0;
  performance.now = () => page.clock();
  globalThis.document = page.document;
  globalThis.navigator = { scheduling: { isInputPending: () => page.pending } };
  globalThis.setImmediate = host === "setImmediate" ? ask : undefined;
  globalThis.MessageChannel =
    host === "MessageChannel"
      ? class {
          port1 = {};
          port2 = { postMessage: () => void ask(() => this.port1.onmessage({})) };
        }
      : undefined;
  globalThis.setTimeout = (call, delay = 0, ...rest) => {
    // Whole milliseconds, of 31 bits, and one at least.
    const due = page.time + (delay > 0x7fffffff ? 1 : Math.max(1, Math.trunc(delay)));
    page.timers.push({ id: ++ids, call, due, rest });
    return ids;
  };
  globalThis.clearTimeout = (id) => {
    page.timers = page.timers.filter((timer) => timer.id !== id);
  };
  page.colibri = await import(`../../dist/colibri.js?page=${++pages}`);
  return page;
}

const later = setImmediate;
const Channel = MessageChannel;

/** Until all promises that can be settled are. */
export const settled = () => new Promise((done) => later(done));

/** The platform's own, which pages replace. */
export const own = { setImmediate: later, MessageChannel: Channel, setTimeout, clearTimeout };

/** A generator of so many steps of so many ms, which says to `log` when it makes one. */
export function* steps(page, count, ms, name, log) {
  for (let made = 0; made < count; made++) {
    page.work(ms);
    log?.push(name);
    yield;
  }
  return name;
}
