// Who runs when: classes, turns, promotion, slices.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage, steps } from "./support/page.js";

test("classes are strict, and equals run in the order in which they came", async () => {
  const page = await openPage();
  const log = [];
  for (const priority of ["idle", "normal", "immediate"])
    for (const number of [1, 2]) page.colibri.schedule(() => log.push(priority + number), { priority });
  assert.deepEqual(log, []); // nothing runs before the host has its turn
  await page.run();
  assert.deepEqual(log, ["immediate1", "immediate2", "normal1", "normal2", "idle1", "idle2"]);
});

test("equals take turns of 2 ms", async () => {
  const page = await openPage();
  const log = [];
  for (const name of ["a", "b"]) page.colibri.schedule(() => steps(page, 8, 0.5, name, log));
  await page.run();
  assert.equal(log.join(""), "aaaabbbbaaaabbbb");
});

test("who is stopped by the slice keeps the rest of its turn", async () => {
  const page = await openPage();
  const log = [];
  // 3 ms of callbacks first: the slice ends after 1 ms of b's second turn.
  page.colibri.schedule(() => page.work(3), { priority: "immediate" });
  for (const name of ["a", "b"]) page.colibri.schedule(() => steps(page, 6, 1, name, log));
  await page.turn();
  assert.equal(log.join(""), "aabba");
  await page.turn();
  assert.equal(log.join(""), "aabba" + "a" + "bbaabb"); // a goes on, for the 1 ms that it has left
});

test("what a task overdraws is taken from its next turns", async () => {
  const page = await openPage();
  const used = { a: 0, b: 0 };
  const greedy = function* (name, ms) {
    for (;;) {
      page.work(ms);
      used[name] += ms;
      yield;
    }
  };
  const tasks = [page.colibri.schedule(() => greedy("a", 7)), page.colibri.schedule(() => greedy("b", 0.25))];
  for (let turn = 0; turn < 500; turn++) {
    await page.turn();
    // A quantum, and the longest gap between two checks.
    assert.ok(Math.abs(used.a - used.b) <= 2 + 7, JSON.stringify(used));
  }
  assert.ok(used.a > 1000);
  tasks.forEach((task) => page.colibri.cancel(task));
});

test("a task of a higher class that becomes ready stops the running one at its next check", async () => {
  const page = await openPage();
  const log = [];
  page.colibri.schedule(
    function* () {
      for (let step = 0; step < 4; step++) {
        page.work(0.1);
        log.push("idle");
        if (step === 1) page.colibri.schedule(() => log.push("click"), { priority: "immediate" });
        yield;
      }
    },
    { priority: "idle" },
  );
  await page.turn();
  assert.deepEqual(log, ["idle", "idle", "click", "idle", "idle"]);
});

test("nobody starves: each wait is within the bound", async () => {
  const page = await openPage();
  const { schedule } = page.colibri;
  const endless = function* () {
    for (;;) {
      page.work(0.5);
      yield;
    }
  };
  for (let count = 0; count < 3; count++) schedule(endless, { priority: "immediate" });
  for (let count = 0; count < 3; count++) schedule(endless, { priority: "normal" });
  const began = page.time;
  let waited;
  schedule(() => (waited = page.time - began), { priority: "idle" });
  // A = 500 ms, q = 2 ms, d = 0.5 ms, N = 7: 2 (A + q + d) + 2 N (q + d).
  const bound = 2 * (500 + 2 + 0.5) + 2 * 7 * (2 + 0.5);
  while (waited === undefined && page.time - began < 5000) await page.turn();
  assert.ok(waited <= bound, `${waited} of ${bound} ms`);
  assert.ok(waited >= 1000, `it rises twice, after 500 ms each: ${waited}`);
});

test("a storm of promotions leaves the upper class every second step", async () => {
  const page = await openPage();
  const log = [];
  for (let count = 0; count < 200; count++) page.colibri.schedule(() => log.push("idle"), { priority: "idle" });
  page.work(600);
  for (let count = 0; count < 3; count++) page.colibri.schedule(() => steps(page, 500, 2, "normal", log));
  while (log.length < 300) await page.turn();
  assert.ok(log.filter((name) => name === "idle").length > 100);
  for (let place = 1; place < log.length; place++)
    assert.ok(log[place] === "normal" || log[place - 1] === "normal", `${place}: two promoted ones in a row`);
});

test("a slice takes 8 ms and the end of one step", async () => {
  const page = await openPage();
  const slices = [];
  page.colibri.onSlice((used, left) => slices.push([used, left]));
  for (let count = 0; count < 100; count++) page.colibri.schedule(() => page.work(0.75));
  await page.run();
  assert.equal(slices.length, 10); // 11 steps each
  for (const [used, left] of slices.slice(0, -1)) assert.ok(used >= 8 && used < 8.75 && left, `${used}`);
  assert.equal(slices.at(-1)[1], false);
});

test("input that waits ends the slice at the next step, and all goes on after it", async () => {
  const page = await openPage();
  const log = [];
  for (let count = 0; count < 4; count++) page.colibri.schedule(() => (page.work(0.5), log.push("job")));
  page.colibri.schedule(() => steps(page, 3, 0.5, "step", log));
  page.pending = true;
  await page.turn();
  assert.deepEqual(log, []);
  page.pending = false;
  page.colibri.schedule(() => (page.pending = true), { priority: "immediate" });
  await page.turn();
  assert.deepEqual(log, []); // the first step brought input
  page.pending = false;
  await page.run();
  assert.deepEqual(log, ["job", "job", "job", "job", "step", "step", "step"]);
});

test("the host is asked once for each slice, and not at all while nothing is ready", async () => {
  const page = await openPage();
  for (let count = 0; count < 1000; count++) page.colibri.schedule(() => {});
  assert.equal(page.asked, 1);
  await page.turn();
  assert.equal(page.asked, 1);
  assert.equal(page.turns.length, 0);
  page.colibri.schedule(() => {});
  assert.equal(page.asked, 2);
});

for (const host of ["setImmediate", "MessageChannel", "setTimeout"])
  test(`it runs by ${host}`, async () => {
    const page = await openPage({ host });
    const log = [];
    page.colibri.schedule(() => steps(page, 40, 1, "a", log));
    await page.run();
    assert.equal(log.length, 40);
  });
