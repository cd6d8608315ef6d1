// What a user may write, and, behind `@ts-expect-error`, what not.

import { cancel, onSlice, pause, resume, schedule, setPriority, shouldYield, stats, yieldToMain } from "colibri-web";
import type { Options, Priority, Task } from "colibri-web";
import { useColibriTask } from "colibri-web/react";

const plain: Task<number> = schedule(() => 1);
const generated: Task<string> = schedule(function* () {
  yield;
  yield 5;
  return "done";
});
const awaited: Task<boolean> = schedule(async () => {
  if (shouldYield()) await yieldToMain({ priority: "idle" });
  return true;
});
const options: Options = { priority: "immediate", delay: 5, signal: new AbortController().signal };
schedule(() => {}, options);

const sum: Promise<number> = plain.then((value) => value + 1);
void sum;
cancel(generated);
cancel(awaited, new Error("why"));
pause(plain);
resume(plain);
const priority: Priority = "normal";
setPriority(plain, priority);
onSlice((used, left) => void (left ? used.toFixed() : used));
onSlice(undefined);
schedule.slice = 4;
schedule.slice = undefined;
const counts: number[] | undefined = stats();
void counts;

const { run, value, pending } = useColibriTask<number>("idle");
run(() => 1);
run(function* () {
  yield;
  return 1;
});
const seen: number | undefined = value;
void [seen, pending satisfies boolean];

// @ts-expect-error: no such class
schedule(() => {}, { priority: "high" });
// @ts-expect-error: a promise is no task
cancel(Promise.resolve());
// @ts-expect-error: a string is no number
const wrong: Task<number> = schedule(() => "text");
// @ts-expect-error: a generator's result is what counts
const yielded: Task<undefined> = schedule(function* () {
  yield undefined;
  return 1;
});
void [wrong, yielded];
// @ts-expect-error: the hook's task is of its own type
run(() => "text");
