// A burst of tasks on React's scheduler. Arguments: a class for each task ("0" Immediate, "1" Normal, "2" Idle), how long each
// works in ms, and the number of tasks without work by which the time of a decision is told. Prints JSON; times in ms.
import { createRequire } from "node:module";
import { performance } from "node:perf_hooks";

process.env.NODE_ENV = "production"; // read when the package is loaded
const require = createRequire(import.meta.url);
const scheduler = require("scheduler");
const priorities = [
  scheduler.unstable_ImmediatePriority,
  scheduler.unstable_NormalPriority,
  scheduler.unstable_IdlePriority,
];
const [classes, taskMs, empties] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];

/** Runs all callbacks, and tells the longest time in which nobody else had a turn of the event loop. */
function burst(classOf, count, callback) {
  return new Promise((resolve) => {
    let left = count;
    let hold = 0;
    let turn = performance.now();
    const host = () => {
      const now = performance.now();
      hold = Math.max(hold, now - turn);
      turn = now;
      left > 0 ? setImmediate(host) : resolve({ start, end, hold });
    };
    let end = turn;
    const start = performance.now();
    for (let number = 0; number < count; number++) {
      const kind = classOf(number);
      scheduler.unstable_scheduleCallback(priorities[kind], () => {
        callback(kind, start);
        if (--left === 0) end = performance.now();
      });
    }
    setImmediate(host);
  });
}

const waits = [[], [], []];
let work = 0;
const work_for = (kind, start) => {
  const begin = performance.now();
  waits[kind].push(begin - start);
  let now = begin;
  while (now - begin < taskMs) now = performance.now();
  work += now - begin;
};
const classOf = (number) => Number(classes[number % classes.length]);
// Compiled before it counts.
await burst(classOf, empties, () => {});
const { start, end, hold } = await burst(classOf, classes.length, work_for);
const empty = await burst(classOf, empties, () => {});
console.log(
  JSON.stringify({ total: end - start, work, waits, hold, decision: (empty.end - empty.start) / empties })
);
