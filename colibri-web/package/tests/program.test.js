// The program in Rust, with the whole scheduler, on Node: by the same host as in a page.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as program from "../dist/program-node/colibri_web_program.js";

const counted = (limit) => new Promise((done) => program.count(limit, done));
const pass = (ms) => new Promise((done) => setTimeout(done, ms));

test("it counts, and timers have their turn meanwhile", async () => {
  let ticks = 0;
  const timer = setInterval(() => ticks++, 1);
  const began = performance.now();
  assert.equal(await counted(1_000_000), 78498);
  const slices = (performance.now() - began) / 8;
  clearInterval(timer);
  assert.ok(ticks > slices / 4, `${ticks} ticks in ${slices} slices`);
  assert.equal(program.live_tasks(), 0);
});

test("a reminder comes before whatever is counted, and not early", async () => {
  let found = 0;
  program.count(50_000_000, () => found++);
  const began = performance.now();
  await new Promise((done) => program.remind(20, done));
  assert.ok(performance.now() - began >= 20);
  assert.equal(found, 0);
  program.cancel();
  assert.equal(program.live_tasks(), 0);
});

test("the latest count is the one that counts", async () => {
  let first = 0;
  program.count(50_000_000, () => first++);
  await pass(20);
  assert.equal(await counted(1000), 168);
  assert.equal(first, 0);
});

test("a paused count keeps its state", async () => {
  let found;
  program.count(200_000, (count) => (found = count));
  program.pause();
  await pass(100);
  assert.equal(found, undefined);
  program.resume();
  while (found === undefined) await pass(5);
  assert.equal(found, 17984);
});
