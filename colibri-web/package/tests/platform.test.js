// What the package asks of where it runs, what it costs there, and what it keeps.

import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { promisify } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";
import * as colibri from "colibri-web";

const LIMIT_BYTES = 2048;
const ROOT = `${import.meta.dirname}/..`;

const run = (source) =>
  execFileSync(process.execPath, ["--input-type=module", "--eval", source], { cwd: ROOT, timeout: 20_000 }).toString();

test(`the package has at most ${LIMIT_BYTES} bytes after gzip -9`, () => {
  const module = readFileSync(`${ROOT}/dist/colibri.js`);
  const { length } = execFileSync("gzip", ["-9nc"], { input: module });
  assert.ok(length <= LIMIT_BYTES, `${length} bytes`);
});

test("importing it does nothing: not where there is no WebAssembly, no page, no timer", () => {
  const said = run(`
    for (const name of ["WebAssembly", "setImmediate", "MessageChannel", "setTimeout", "performance", "document"])
      delete globalThis[name];
    const before = Object.getOwnPropertyNames(globalThis).length;
    await import("colibri-web");
    console.log(Object.getOwnPropertyNames(globalThis).length - before);
  `);
  assert.equal(said.trim(), "0");
});

test("what nobody handles is reported by the platform; what was cancelled is not", () => {
  const said = run(`
    import { cancel, schedule } from "colibri-web";
    process.on("unhandledRejection", (error) => console.log(error));
    for (const name of ["a", "b"]) schedule(() => { throw name; });
    cancel(schedule(() => {}));
    schedule(() => console.log("unharmed"));
  `);
  assert.deepEqual(said.trim().split("\n").sort(), ["a", "b", "unharmed"]);
});

test("a program ends when its tasks have", () => {
  const said = run(`
    import { schedule } from "colibri-web";
    schedule(function* () { for (let i = 0; i < 1e5; i++) yield; console.log("done"); }, { priority: "idle", delay: 5 });
  `);
  assert.equal(said.trim(), "done");
});

test("on Node it gives way to sockets and timers", async () => {
  const { schedule } = colibri;
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  await schedule(function* () {
    const began = performance.now();
    while (performance.now() - began < 200) yield;
  });
  clearInterval(timer);
  assert.ok(turns >= 10, `${turns} turns of a timer in 25 slices`);
});

test("in a worker", async () => {
  const worker = new Worker(
    `import("colibri-web").then(async ({ schedule }) => {
       const sum = await schedule(function* () { let sum = 0; for (let i = 0; i < 1000; i++) { sum += i; yield; } return sum; });
       require("node:worker_threads").parentPort.postMessage(sum);
     });`,
    { eval: true },
  );
  const sum = await new Promise((done, failed) => worker.once("message", done).once("error", failed));
  assert.equal(sum, 499500);
  await worker.terminate();
});

test("cancelled and finished tasks hold nothing", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  const { schedule, cancel, pause } = colibri;
  const gone = new Set();
  const registry = new FinalizationRegistry((name) => gone.add(name));
  const kept = [];
  const start = (name, options) => {
    const captured = { name };
    registry.register(captured, name);
    const task = schedule(function* () {
      for (;;) yield captured;
    }, options);
    kept.push(task);
    return task;
  };
  cancel(start("ready"));
  cancel(start("delayed", { delay: 60_000 }));
  const running = start("running");
  const paused = start("paused");
  pause(paused);
  await new Promise((done) => setTimeout(done, 30));
  cancel(running);
  cancel(paused);
  {
    const captured = {};
    registry.register(captured, "finished");
    kept.push(await schedule(() => void captured));
  }
  for (let tries = 0; tries < 50 && gone.size < 5; tries++) {
    collect();
    await new Promise((done) => setTimeout(done, 10));
  }
  assert.deepEqual([...gone].sort(), ["delayed", "finished", "paused", "ready", "running"]);
  assert.equal(kept.length, 5); // the promises themselves are held
});

test("each call takes less than 1 µs on average", async (t) => {
  const { schedule, cancel, pause, resume, setPriority, shouldYield, onSlice, stats, yieldToMain } = colibri;
  const COUNT = 2000;
  let tasks = [];
  const nothing = () => {};
  const many = (make) => () => (tasks = Array.from({ length: COUNT }, make));
  const each = (call) => () => tasks.forEach(call);
  const calls = {
    schedule: [many(() => schedule(nothing)), () => tasks.forEach((task) => cancel(task))],
    pause: [each((task) => pause(task)), undefined, many(() => schedule(nothing))],
    resume: [each((task) => resume(task)), undefined, undefined],
    setPriority: [each((task) => setPriority(task, "idle")), undefined, undefined],
    cancel: [each((task) => cancel(task))],
    shouldYield: [() => { for (let count = 0; count < COUNT; count++) shouldYield(); }],
    onSlice: [() => { for (let count = 0; count < COUNT; count++) onSlice(nothing); }],
    stats: [() => { for (let count = 0; count < COUNT; count++) stats(); }],
    yieldToMain: [many(() => yieldToMain()), () => tasks.forEach((task) => cancel(task))],
  };
  const best = {};
  for (let round = 0; round < 30; round++) {
    for (const [name, [call, after, before]] of Object.entries(calls)) {
      before?.();
      const began = process.hrtime.bigint();
      call();
      const took = Number(process.hrtime.bigint() - began) / COUNT;
      best[name] = Math.min(best[name] ?? Infinity, took);
      after?.();
    }
    await new Promise((done) => setImmediate(done));
  }
  t.diagnostic(Object.entries(best).map(([name, ns]) => `${name} ${ns.toFixed(0)} ns`).join(", "));
  for (const [name, ns] of Object.entries(best)) assert.ok(ns < 1000, `${name}: ${ns} ns`);
});

test("Vite builds a page with it", async () => {
  const { build } = await import("vite");
  const results = await build({
    root: `${ROOT}/tests/vite`,
    logLevel: "silent",
    build: { write: false, minify: true, modulePreload: false },
  });
  const { output } = Array.isArray(results) ? results[0] : results;
  const chunk = output.find(({ type }) => type === "chunk");
  // And what it has built still runs.
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", chunk.code]);
  assert.equal(stdout.trim(), "499500");
});
