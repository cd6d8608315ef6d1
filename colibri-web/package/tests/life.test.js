// A task's life: delayed, paused, moved, cancelled, failed, finished.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage, settled, steps } from "./support/page.js";

const ABORTED = { name: "AbortError" };

test("a task is a promise of what its function returns", async () => {
  const page = await openPage();
  const { schedule } = page.colibri;
  const tasks = [
    schedule(() => 1),
    schedule(async () => 2),
    schedule(() => steps(page, 20, 1, "three")),
    schedule(() => undefined),
    schedule(() => null),
  ];
  await page.run();
  assert.deepEqual(await Promise.all(tasks), [1, 2, "three", undefined, null]);
});

test("a delay is never early, and equal ones end in the order of their making", async () => {
  const page = await openPage();
  const log = [];
  const began = page.time;
  const add = (delay, name) => page.colibri.schedule(() => log.push([name, page.time - began]), { delay });
  add(20.9, "a");
  add(5.5, "b");
  add(20.9, "c");
  add(0, "d");
  await page.run();
  assert.deepEqual(log.map(([name]) => name).join(""), "dbac");
  for (const [name, delay] of [["b", 5.5], ["a", 20.9], ["c", 20.9]])
    assert.ok(log.find((entry) => entry[0] === name)[1] >= delay, name);
});

test("a delay of more than 2^31 ms does not end at once", async () => {
  const page = await openPage();
  let ran = false;
  page.colibri.schedule(() => (ran = true), { delay: 3e9 });
  assert.equal(page.timers[0].due, page.time + 1e9);
  assert.equal(ran, false);
  await page.run();
  assert.ok(ran && page.time >= 3e9);
});

test("a busy queue does not hold delays back", async () => {
  const page = await openPage();
  page.colibri.schedule(() => steps(page, 100, 1));
  const began = page.time;
  let at;
  page.colibri.schedule(() => (at = page.time - began), { priority: "immediate", delay: 10 });
  // As in pages, timers have their turn between slices.
  while (at === undefined) (await page.turn(), page.timers[0]?.due <= page.time && page.timer());
  assert.ok(at >= 10 && at <= 10 + 8 + 1, `${at}`);
});

test("a cancelled task never runs, and is rejected without a report", async () => {
  const page = await openPage();
  const { schedule, cancel } = page.colibri;
  let ran = false;
  const ready = schedule(() => (ran = true));
  const delayed = schedule(() => (ran = true), { delay: 5 });
  const unheard = schedule(() => (ran = true));
  cancel(ready);
  cancel(ready);
  cancel(delayed, "no more");
  cancel(unheard);
  assert.equal(page.timers.length, 0); // nothing is left behind
  await page.run();
  await assert.rejects(ready, ABORTED);
  await assert.rejects(delayed, (reason) => reason === "no more");
  assert.equal(ran, false);
  cancel(schedule(() => {})); // and the numbers are fit for use
});

test("a cancelled generator is closed, whoever cancels it, and when", async () => {
  const page = await openPage();
  const { schedule, cancel } = page.colibri;
  const log = [];
  const careful = function* (name, at) {
    try {
      for (let step = 0; step < 10; step++) {
        page.work(1);
        log.push(name);
        if (step === at) cancel(own);
        yield;
      }
    } finally {
      log.push(`${name} closed`);
    }
  };
  const own = schedule(() => careful("own", 1));
  const other = schedule(() => careful("other", 20));
  await page.turn();
  assert.deepEqual(log.slice(0, 2), ["own", "own"]);
  assert.ok(log.includes("own closed"));
  cancel(other);
  await settled();
  assert.equal(log.at(-1), "other closed");
  await assert.rejects(own, ABORTED);
  await assert.rejects(other, ABORTED);
});

test("signals cancel: before, during and after", async () => {
  const page = await openPage();
  const { schedule } = page.colibri;
  const aborted = AbortSignal.abort("before");
  await assert.rejects(schedule(() => assert.fail(), { signal: aborted }), (reason) => reason === "before");
  const controller = new AbortController();
  const { signal } = controller;
  const [endless, delayed] = [schedule(() => steps(page, 1e6, 1), { signal }), schedule(() => 1, { signal, delay: 50 })];
  const done = schedule(() => "done", { signal, priority: "immediate" });
  await page.turn();
  assert.equal(await done, "done");
  controller.abort("during");
  for (const task of [endless, delayed]) await assert.rejects(task, (reason) => reason === "during");
  assert.equal(page.timers.length, 0);
});

test("a signal that lives long holds no task that has ended", async () => {
  const page = await openPage();
  let listeners = 0;
  const signal = {
    addEventListener: () => listeners++,
    removeEventListener: () => listeners--,
  };
  for (let count = 0; count < 10; count++) page.colibri.schedule(() => {}, { signal });
  assert.equal(listeners, 10);
  await page.run();
  assert.equal(listeners, 0);
});

test("a paused task keeps its state and does not run until it is resumed", async () => {
  const page = await openPage();
  const { schedule, pause, resume } = page.colibri;
  const log = [];
  const task = schedule(() => steps(page, 20, 1, "a", log));
  await page.turn();
  const made = log.length;
  pause(task);
  pause(task);
  await page.run();
  assert.equal(log.length, made);
  resume(task);
  resume(task);
  await page.run();
  assert.equal(log.length, 20);
  assert.equal(await task, "a");
});

test("a task may pause itself, and stops at its next check", async () => {
  const page = await openPage();
  const { schedule, pause, resume } = page.colibri;
  const log = [];
  const task = schedule(function* () {
    log.push(1);
    pause(task);
    yield;
    log.push(2);
    pause(task);
    resume(task);
    yield;
    log.push(3);
  });
  await page.run();
  assert.deepEqual(log, [1]);
  resume(task);
  await page.run();
  assert.deepEqual(log, [1, 2, 3]);
});

test("a delay that ends while its task is paused is not lost", async () => {
  const page = await openPage();
  const { schedule, pause, resume } = page.colibri;
  let ran = 0;
  const task = schedule(() => ran++, { delay: 5 });
  pause(task);
  await page.run();
  assert.equal(ran, 0);
  resume(task);
  await page.run();
  assert.equal(ran, 1);
  const early = schedule(() => ran++, { delay: 5 });
  pause(early);
  resume(early);
  assert.equal(page.turns.length, 1); // asked for by the pause, and nothing is ready
  await page.turn();
  assert.equal(ran, 1);
  await page.run();
  assert.equal(ran, 2);
});

test("a task is moved to the tail of its new class, ready, paused or running", async () => {
  const page = await openPage();
  const { schedule, setPriority, pause, resume } = page.colibri;
  const log = [];
  const say = (name) => schedule(() => log.push(name));
  const first = say("first");
  const paused = say("paused");
  say("second");
  setPriority(first, "idle");
  pause(paused);
  setPriority(paused, "immediate");
  resume(paused);
  const running = schedule(
    function* () {
      log.push("running");
      setPriority(running, "idle");
      yield; // now a normal task comes first; it has the rest of its turn, and so is before its new equals
      log.push("went on");
    },
    { priority: "immediate" },
  );
  await page.run();
  assert.deepEqual(log, ["paused", "running", "second", "went on", "first"]);
  setPriority(running, "idle"); // has ended
});

test("a wrong class is refused with a word, and changes nothing", async () => {
  const page = await openPage();
  const { schedule, setPriority } = page.colibri;
  const task = schedule(() => 1);
  for (const wrong of ["high", 1, null, "toString"]) {
    assert.throws(() => schedule(() => {}, { priority: wrong }), RangeError("priority"));
    assert.throws(() => setPriority(task, wrong), RangeError("priority"));
  }
  await page.run();
  assert.equal(await task, 1);
});

test("what a task throws reaches its promise, and stops nobody else", async () => {
  const page = await openPage();
  const { schedule } = page.colibri;
  const fail = (error) => () => {
    throw error;
  };
  const failed = [
    schedule(fail(1)),
    schedule(function* () {
      yield;
      throw 2;
    }),
    schedule(async () => {
      throw 3;
    }),
  ];
  const reasons = Promise.all(failed.map((task) => task.catch((error) => error)));
  const bystander = schedule(() => "unharmed");
  await page.run();
  assert.deepEqual(await reasons, [1, 2, 3]);
  assert.equal(await bystander, "unharmed");
});

test("what a listener or a closing generator throws is reported, and stops nobody else", async () => {
  const page = await openPage();
  const { schedule, cancel, onSlice } = page.colibri;
  const reported = [];
  const report = (error) => reported.push(error.message);
  process.setUncaughtExceptionCaptureCallback(report);
  onSlice(() => {
    throw new Error("listener");
  });
  const task = schedule(function* () {
    try {
      for (;;) {
        page.work(1);
        yield;
      }
    } finally {
      throw new Error("closing");
    }
  });
  await page.turn();
  cancel(task);
  await settled();
  onSlice(undefined);
  const bystander = schedule(() => "unharmed");
  await page.run();
  process.setUncaughtExceptionCaptureCallback(null);
  assert.equal(await bystander, "unharmed");
  assert.deepEqual(reported, ["listener", "closing"]);
});

test("tasks may start, cancel and pause tasks from within", async () => {
  const page = await openPage();
  const { schedule, cancel, pause } = page.colibri;
  const log = [];
  const victim = schedule(() => log.push("victim"), { priority: "idle" });
  const sleeper = schedule(() => log.push("sleeper"), { priority: "idle" });
  await Promise.all([
    schedule(() => {
      log.push("outer");
      schedule(() => log.push("inner"), { priority: "immediate" });
      cancel(victim);
      pause(sleeper);
      queueMicrotask(() => log.push("microtask"));
    }),
    page.run(),
  ]);
  assert.deepEqual(log, ["outer", "inner", "microtask"]);
});

test("shouldYield: a quantum in a slice, a higher class, and always outside", async () => {
  const page = await openPage();
  const { schedule, shouldYield } = page.colibri;
  assert.equal(shouldYield(), true);
  const said = [];
  schedule(() => {
    said.push(shouldYield());
    page.work(1.9);
    said.push(shouldYield());
    page.work(0.2);
    said.push(shouldYield());
  });
  schedule(() => {
    said.push(shouldYield());
    schedule(() => {}, { priority: "immediate" });
    said.push(shouldYield());
  });
  await page.run();
  assert.deepEqual(said, [false, false, true, false, true]);
});

test("an async function gives the page its turn, and goes on in the order of classes", async () => {
  const page = await openPage();
  const { schedule, shouldYield, yieldToMain } = page.colibri;
  const log = [];
  const work = async (name, priority) => {
    for (let step = 0; step < 12; step++) {
      page.work(1);
      if (shouldYield()) {
        log.push(name);
        await yieldToMain({ priority });
      }
    }
    return name;
  };
  const tasks = [schedule(() => work("idle", "idle"), { priority: "idle" }), schedule(() => work("normal", "normal"))];
  let turns = 0;
  while (await page.turn()) turns++;
  assert.deepEqual(await Promise.all(tasks), ["idle", "normal"]);
  // It goes on after the slice, so that each continuation is a turn of its own.
  assert.ok(turns >= log.length, `${turns} turns for ${log.length}`);
  assert.ok(log.lastIndexOf("normal") < log.lastIndexOf("idle"));
});

test("stats count by class", async () => {
  const page = await openPage();
  const { schedule, stats, pause } = page.colibri;
  assert.equal(stats(), undefined);
  schedule(() => page.work(3), { priority: "immediate" });
  const paused = schedule(() => {});
  schedule(() => {});
  pause(paused);
  schedule(() => steps(page, 3, 2.5), { priority: "idle" });
  assert.deepEqual(stats().slice(0, 12), [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]);
  await page.run();
  const [immediate, normal, idle] = [0, 4, 8].map((place) => stats().slice(place, place + 4));
  assert.deepEqual(immediate, [0, 1, 0, 0]);
  assert.deepEqual(normal, [0, 1, 3000, 0]);
  assert.deepEqual(idle.slice(0, 2), [0, 4]);
});

test("131 071 tasks live at a time; one more is refused, and nothing is lost", async () => {
  const page = await openPage();
  const { schedule } = page.colibri;
  let ran = 0;
  for (let count = 0; count < 131071; count++) schedule(() => ran++);
  assert.throws(() => schedule(() => {}), RangeError("tasks"));
  await page.run();
  assert.equal(ran, 131071);
  for (let count = 0; count < 131071; count++) schedule(() => ran++);
  await page.run();
  assert.equal(ran, 2 * 131071);
});
