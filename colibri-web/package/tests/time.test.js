// Clocks that are coarse, jump or step back; pages that are hidden, scrolled, frozen.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage, steps } from "./support/page.js";

const MINUTE = 60_000;

/** Runs endless tasks for a while, and returns how long slices truly took. */
async function slices(page, count, ms = 0.25) {
  const tasks = ["a", "b", "c"].map((name) => page.colibri.schedule(() => steps(page, 1e9, ms, name)));
  const took = [];
  for (let number = 0; number < count; number++) {
    const began = page.time;
    await page.turn();
    took.push(page.time - began);
    page.work(1); // the page's own turn
  }
  tasks.forEach((task) => page.colibri.cancel(task));
  return took;
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

for (const step of [0.005, 0.1, 1])
  test(`a clock of ${step} ms: slices are late by no more than that`, async () => {
    const took = await slices(await openPage({ step }), 200);
    assert.ok(Math.max(...took) <= 8 + 0.25 + step, `${Math.max(...took)}`);
    assert.ok(Math.abs(mean(took) - 8) < 0.5, `${mean(took)}`);
  });

for (const step of [4, 10, 16])
  test(`a clock of ${step} ms: between its steps, checks are counted`, async () => {
    const page = await openPage({ step });
    const took = await slices(page, 400);
    const learned = took.slice(20);
    // Without the count a slice would last for 8 to 8 + step ms.
    assert.ok(Math.abs(mean(learned) - 8) < 2, `${mean(learned)}`);
    assert.ok(Math.max(...learned) < 8 + 8, `${Math.max(...learned)}`);
    assert.ok(Math.min(...learned) > 0);
  });

test("a clock of 16 ms: equals still take turns", async () => {
  const page = await openPage({ step: 16 });
  const log = [];
  const tasks = ["a", "b"].map((name) => page.colibri.schedule(() => steps(page, 1e9, 0.25, name, log)));
  for (let turn = 0; turn < 200; turn++) await page.turn();
  const [a, b] = ["a", "b"].map((name) => log.filter((entry) => entry === name).length);
  assert.ok(Math.min(a, b) / Math.max(a, b) > 0.9, `${a} against ${b}`);
  tasks.forEach((task) => page.colibri.cancel(task));
});

test("a night in a closed laptop: the slice ends, and nobody has waited for a night", async () => {
  const page = await openPage();
  const { schedule } = page.colibri;
  const log = [];
  schedule(function* () {
    log.push("before");
    page.work(8 * 60 * MINUTE);
    yield;
    log.push("after");
  });
  schedule(() => log.push("equal"));
  schedule(() => log.push("idle"), { priority: "idle" });
  await page.turn();
  assert.deepEqual(log, ["before"]);
  await page.run();
  // It is charged one turn: its equal is next. The idle task has not risen.
  assert.deepEqual(log, ["before", "equal", "after", "idle"]);
});

test("a clock that steps back: all goes on, in order and in turns", async () => {
  const page = await openPage();
  const log = [];
  for (const name of ["a", "b"]) page.colibri.schedule(() => steps(page, 4, 1, name, log));
  page.colibri.schedule(() => (page.time -= 600), { priority: "immediate" });
  await page.run();
  assert.equal(log.join(""), "aabbaabb");
});

test("a clock that stands: nothing hangs, all ends", async () => {
  const page = await openPage();
  let ran = 0;
  for (let count = 0; count < 1000; count++) page.colibri.schedule(() => ran++);
  await page.run(3);
  assert.equal(ran, 1000);
});

test("slices follow the page: 8 ms, 4 ms after input, 50 ms while it is hidden", async () => {
  const page = await openPage();
  const used = [];
  page.colibri.onSlice((ms) => used.push(ms));
  const task = page.colibri.schedule(() => steps(page, 1e9, 0.5));
  const slice = async () => (await page.turn(), used.at(-1));
  assert.equal(await slice(), 8);
  for (const event of ["scroll", "pointermove", "pointerdown", "keydown"]) {
    page.document.dispatchEvent(new Event(event));
    assert.equal(await slice(), 4, event);
    page.work(250);
    assert.equal(await slice(), 8, event);
  }
  page.document.hidden = true;
  assert.equal(await slice(), 50);
  page.document.dispatchEvent(new Event("keydown")); // a shortcut, say
  assert.equal(await slice(), 50);
  page.document.hidden = false;
  page.work(250);
  assert.equal(await slice(), 8);
  page.colibri.cancel(task);
});

test("a slice of one's own length", async () => {
  const page = await openPage();
  const { schedule, cancel, onSlice } = page.colibri;
  const used = [];
  onSlice((ms) => used.push(ms));
  const task = schedule(() => steps(page, 1e9, 0.5));
  for (const length of [2, 20, undefined]) {
    schedule.slice = length;
    await page.turn();
  }
  assert.deepEqual(used, [2, 20, 8]);
  cancel(task);
});

test("a page that is frozen goes on where it was, and one that is discarded leaves nothing to wait for", async () => {
  const page = await openPage();
  const log = [];
  page.colibri.schedule(() => steps(page, 20, 1, "a", log));
  page.colibri.schedule(() => log.push("late"), { delay: 50 });
  await page.turn();
  const made = log.length;
  page.work(30 * MINUTE); // nobody calls: it is in the back/forward cache
  assert.equal(log.length, made);
  await page.run();
  assert.deepEqual(log, [...Array(20).fill("a"), "late"]);
  // A listener to one of these would keep the page out of that cache.
  assert.deepEqual(page.document.listened, ["scroll", "pointermove", "pointerdown", "keydown"]);
});
