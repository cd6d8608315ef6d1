// The ways to run many short jobs on a page's main thread. Each is handed jobs, `{ run, priority }`, and returns when all are done, and
// how to cancel those that are not.

import * as colibri from "/dist/colibri.js";
import { mainThread, react } from "/dist/peers/peers.js";

const REACT = {
  immediate: react.unstable_ImmediatePriority,
  normal: react.unstable_NormalPriority,
  idle: react.unstable_IdlePriority,
};
const POST_TASK = { immediate: "user-blocking", normal: "user-visible", idle: "background" };
const MAIN_THREAD = { immediate: "interactive", normal: "smooth", idle: "idle" };

/** Each job a task of its own. */
const each = (start) => (jobs) => {
  let left = jobs.length;
  let finish;
  const done = new Promise((resolve) => (finish = resolve));
  const cancels = jobs.map(({ run, priority }) =>
    start(() => {
      run();
      if (--left === 0) finish();
    }, priority),
  );
  if (!left) finish();
  return { done, cancel: () => cancels.forEach((cancel) => cancel()) };
};

export const WAYS = {
  nothing: (jobs) => {
    jobs.forEach(({ run }) => run());
    return { done: Promise.resolve(), cancel: () => {} };
  },
  "React's scheduler": each((run, priority) => {
    const task = react.unstable_scheduleCallback(REACT[priority], run);
    return () => react.unstable_cancelCallback(task);
  }),
  // One loop for each class, as its users write it: it has no tasks that could be ordered.
  "main-thread-scheduling": (jobs) => {
    let cancelled = false;
    const loop = async (priority) => {
      for (const job of jobs.filter((job) => job.priority === priority)) {
        await mainThread.yieldOrContinue(MAIN_THREAD[priority]);
        if (cancelled) return;
        job.run();
      }
    };
    const done = Promise.all(Object.keys(MAIN_THREAD).map(loop));
    return { done, cancel: () => (cancelled = true) };
  },
  "scheduler.postTask": each((run, priority) => {
    const controller = new AbortController();
    scheduler.postTask(run, { priority: POST_TASK[priority], signal: controller.signal }).catch(() => {});
    return () => controller.abort();
  }),
  colibri: each((run, priority) => {
    const task = colibri.schedule(run, { priority });
    return () => colibri.cancel(task);
  }),
};
