// The scheduler for JavaScript. Who runs next is decided by colibri-core, compiled to WebAssembly: there a task is a number; what it
// consists of (closures, generators, promises) stays here. Every byte of this file counts: `cargo xtask web` prints how many there are.
//
// Declarations stand in the order that ends smallest.
//
// A task is a promise with fields, whose names begin with `_` and are shortened by the minifier;
// parameters with defaults are variables in fewer bytes. Times are in ms; the core's are in µs.

let { document: page, navigator: agent, setImmediate: post, MessageChannel: Channel } = globalThis;

const CLASSES = ["immediate", "normal", "idle"];

// Why a task is not ready: bits of `task._blocked`. The core is told them, too, when a step has ended.
const DELAYED = 1;
const PAUSED = 2;
const ENDED = 4;

// What the core is told in the place of a class: a task leaves its list, and its turn is forgotten or kept.
const FORGOTTEN = 3;
const KEPT = 4;

// How many tasks the core has room for.
const MOST_TASKS = 131072;

let listener;
let length;
const tasks = [0];
let blocked;
let asked;
let lastInput;
let cancelled;
let core;
const free = [];

// Its number is given again after the slice, when a generator can be closed, too: it may be the running one.
const finish = (task, how, value, steps = task._steps) => {
  if (task._blocked < ENDED) {
    task._blocked = ENDED;
    move(task, FORGOTTEN);
    task._steps = tasks[task._id] = 0;
    clearTimeout(task._timer);
    task._signal?.removeEventListener("abort", task._abort);
    task._settle[how](value);
    queueMicrotask(() => {
      free.push(task._id);
      steps.return?.();
    });
  }
};

const move = (task, to) => {
  core.a(now() * 1e3, task._id, to);
  asked ||= post(slice);
};

// A timeout is cut to whole ms, and must be below 2^31 of them: what is left is waited for again.
const wait = (task, due, left = due - now()) => {
  if (left > 0) task._timer = setTimeout(wait, left % 2e9, task, due);
  else resume(task, DELAYED);
};

// Input that waits ends a slice at the next step, where the browser tells of it.
const slice = () => {
  let began = now();
  let id;
  length = schedule.slice || (page?.hidden ? 50 : began - lastInput < 250 ? 4 : 8);
  while (
    (id = core.c(now() * 1e3, agent?.scheduling?.isInputPending() ? 0 : length * 1e3, blocked)) > 0
  ) {
    const task = tasks[id];
    let step;
    try {
      do step = task._steps.next();
      while (!step.done && !task._blocked && !shouldYield());
      step.done && finish(task, 0, step.value);
    } catch (error) {
      finish(task, 1, error);
    }
    blocked = task._blocked;
  }
  asked = id < 0 && post(slice);
  began = now() - began;
  queueMicrotask(() => listener?.(began, id < 0));
};

const now = () => performance.now();

export const pause = (task) => {
  if (task._blocked < ENDED) {
    task._blocked |= PAUSED;
    move(task, KEPT);
  }
};

export const shouldYield = () => !core || core.b(now() * 1e3) > 0;

export const onSlice = (call) => (listener = call);

export const setPriority = (task, priority) => {
  priority = CLASSES.indexOf(priority);
  if (priority < 0) throw RangeError("priority");
  task._class = priority;
  if (task._blocked < DELAYED) move(task, priority);
};

export const resume = (task, why = 2 /* PAUSED */) => {
  if (task._blocked & why && !(task._blocked ^= why)) move(task, task._class);
};

// To make a reason takes 7 µs, most of them for its stack: one does for all.
export const cancel = (task, reason = (cancelled ||= AbortSignal.abort().reason)) => {
  task.catch(() => {});
  finish(task, 1, reason);
};

export const yieldToMain = (options) => schedule(() => (length = 0), options);

export const schedule = (run, { priority = "normal", delay = 0, signal } = {}) => {
  let settle;
  const task = new Promise((...both) => (settle = both));
  setPriority(task, priority);
  task._id = free.pop() || tasks.length;
  if (task._id >= MOST_TASKS) throw RangeError("tasks");
  if (!core) {
    core = new WebAssembly.Instance(
      new WebAssembly.Module(Uint8Array.from("WASM", (character) => character.charCodeAt())),
    ).exports;
    if (!post) {
      post = setTimeout;
      if (Channel) {
        const channel = new Channel();
        channel.port1.onmessage = slice;
        post = () => channel.port2.postMessage(0) || 1;
      }
    }
    for (const event of ["scroll", "pointermove", "pointerdown", "keydown"])
      page?.addEventListener(event, () => (lastInput = now()), true);
  }
  tasks[task._id] = task;
  task._settle = settle;
  task._steps = {
    // A generator takes this one's place.
    next: (value = run()) => (value?.next ? (task._steps = value) : { done: 1, value }),
  };
  task._blocked = DELAYED;
  task._signal = signal;
  signal?.addEventListener("abort", (task._abort = () => cancel(task, signal.reason)));
  signal?.aborted ? task._abort() : wait(task, now() + delay);
  return task;
};

export const stats = () => core && [...Array(16).keys()].map(core.d);
