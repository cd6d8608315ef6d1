// All ways on one page, in turns. What is asserted is what colibri promises, of the best of its rounds: other programs on the machine
// can only make a round worse.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { open } from "./chromium.js";

const ROUNDS = Number(process.env.COLIBRI_ROUNDS ?? 3);
const ROOT = `${import.meta.dirname}/..`;

let browser;
before(async () => {
  const { build } = await import("vite");
  await build({
    root: ROOT,
    logLevel: "silent",
    define: { "process.env.NODE_ENV": '"production"' },
    build: {
      outDir: "dist/peers",
      emptyOutDir: true,
      lib: { entry: "browser/peers.js", formats: ["es"], fileName: "peers" },
    },
  });
  browser = await open();
  await browser.page.goto(`${browser.origin}/browser/comparison.html`);
  await browser.page.waitForFunction(() => window.ways);
});
after(() => browser.close());

/** What a user does meanwhile, as the system's own events. */
const INPUT = {
  async click(page) {
    await page.mouse.click(20, 10);
  },
  async drag(page, time) {
    await page.mouse.move(100 + (time % 500), 200 + (time % 97));
  },
  async type(page, time) {
    await page.keyboard.press("0123456789"[time % 10]);
  },
};
const LOADS = { equal: ["click", 90], classes: ["click", 90], drag: ["drag", 12], search: ["type", 60] };

// Somebody who types for longer would keep some ways from ever ending.
const LONGEST_INPUT_MS = 2500;

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function round(load, way) {
  const { page } = browser;
  const [input, every] = LOADS[load];
  await page.mouse.move(50, 150);
  await page.focus("#search");
  await page.evaluate(([load, way]) => window.begin(load, way), [load, way]);
  let over = false;
  const ended = page.evaluate(() => window.end()).finally(() => (over = true));
  const began = performance.now();
  for (let time = 0; !over && performance.now() - began < LONGEST_INPUT_MS; time++) {
    await Promise.race([INPUT[input](page, time), ended]);
    await Promise.race([pause(every), ended]);
  }
  const seen = await ended;
  await pause(150);
  return seen;
}

const results = {};
const best = (load, way, what) => Math.min(...results[load][way].map((seen) => seen[what]));
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

for (const load of Object.keys(LOADS))
  test(load, { timeout: 300_000 }, async () => {
    const ways = await browser.page.evaluate(() => window.ways);
    results[load] = Object.fromEntries(ways.map((way) => [way, []]));
    // Each round begins with another: whoever comes first meets code that was not compiled yet.
    for (let number = 0; number < ROUNDS; number++)
      for (let place = 0; place < ways.length; place++) {
        const way = ways[(number + place) % ways.length];
        results[load][way].push(await round(load, way));
      }
    console.log(table(load));
    mkdirSync(`${ROOT}/dist`, { recursive: true });
    writeFileSync(`${ROOT}/dist/comparison.json`, JSON.stringify(results, null, 1));

    assert.equal(best(load, "colibri", "long"), 0, "a task of more than 50 ms");
    // A slice is 8 ms, a frame 16.7 ms: two frames, with room for what the browser does itself.
    assert.ok(best(load, "colibri", "longest") < 50, `the longest frame: ${best(load, "colibri", "longest")} ms`);
    assert.ok(best(load, "colibri", "delay") < 50, `input waited ${best(load, "colibri", "delay")} ms`);
    assert.ok(results[load].colibri.every(({ events }) => events > 3), "there was input");
    assert.deepEqual(browser.failures, []);
  });

test("without yields the page would have been held: the measurement sees it", () => {
  assert.ok(best("equal", "nothing", "longest") > 500);
  assert.ok(best("equal", "nothing", "long") > 0);
});

test("with classes, frames and input wait for less than on React's scheduler", () => {
  for (const what of ["longest", "delay"])
    assert.ok(best("classes", "colibri", what) < best("classes", "React's scheduler", what), what);
});

function table(load) {
  const lines = Object.entries(results[load]).map(([way, rounds]) => {
    const of = (what) => median(rounds.map((seen) => seen[what])).toFixed(what === "long" ? 0 : 1).padStart(9);
    return `${way.padEnd(24)}${of("longest")} ms${of("long")}${of("delay")} ms${of("total")} ms`;
  });
  const head = `${load}, median of ${ROUNDS} rounds`.padEnd(24).slice(0, 40);
  return [`\n${head}`, "                          longest frame    long  input waits    total", ...lines].join("\n");
}
