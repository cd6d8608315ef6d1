/**
 * A task's class. Classes are strict: nothing runs while a higher one is ready, but a task that has waited for half a second rises by one.
 *
 * - `immediate`: what somebody waits for with the finger on the button.
 * - `normal`: what should be done soon.
 * - `idle`: what may take its time.
 */
export type Priority = "immediate" | "normal" | "idle";

/** What is said of a task before it starts. */
export interface Options {
  /** Its class; `normal` if nothing is said. */
  readonly priority?: Priority;
  /** How long it is held back, in ms. It is never early. */
  readonly delay?: number;
  /** Cancels it when it aborts; the task is then rejected with the signal's reason. */
  readonly signal?: AbortSignal;
}

/**
 * A task: a promise of what its function returns. It is rejected with what the function throws, which is reported by the platform as
 * any other rejection if nobody handles it, and with an `AbortError` when it is cancelled, which is not reported.
 */
export interface Task<T> extends Promise<T> {
  readonly [task]: true;
}
declare const task: unique symbol;

/**
 * Starts a task. A generator stops at each `yield` if it must give way, and goes on later; whatever it yields is ignored. An async
 * function gives way where it awaits `yieldToMain()`; any other function runs to its end.
 *
 * @throws RangeError if the priority is none, or if 131 071 tasks live already.
 */
export function schedule<T>(run: () => Generator<unknown, T>, options?: Options): Task<T>;
export function schedule<T>(run: () => T, options?: Options): Task<Awaited<T>>;

export declare namespace schedule {
  /**
   * How long a slice takes, in ms, above 0. While nothing is set it follows the page: 8 ms, 4 ms while somebody scrolls, types or points, and 50 ms
   * while the page is hidden. Input that waits ends it at the next step, in browsers that tell of it (`isInputPending`).
   */
  let slice: number | undefined;
}

/** Ends a task: it does not run again, and what it holds is let go. A generator's `finally` runs after the slice. */
export function cancel(task: Task<unknown>, reason?: unknown): void;

/** Keeps a task from running; a running generator stops at its next `yield`. Its state is kept. */
export function pause(task: Task<unknown>): void;

/** Lets a paused task go on, at the tail of its class. */
export function resume(task: Task<unknown>): void;

/**
 * Moves a task to another class, to its tail.
 *
 * @throws RangeError if the priority is none.
 */
export function setPriority(task: Task<unknown>, priority: Priority): void;

/**
 * Whether the running task should give way: its 2 ms are used up, the slice is over, or a higher class is ready. True outside of slices.
 */
export function shouldYield(): boolean;

/** Gives the page its turn: fulfilled at the head of a slice, in the order of classes. */
export function yieldToMain(options?: Options): Task<void>;

/**
 * Who is told after each slice how long it took, in ms, and whether tasks are left. There is one: the last call counts.
 */
export function onSlice(listener: ((used: number, left: boolean) => void) | undefined): void;

/**
 * What is counted: four numbers for each class, `immediate` first. Tasks that are ready; steps; the longest wait for a step, in µs,
 * since the task became ready or rose; the fourth has no meaning yet. Undefined before the first task.
 */
export function stats(): number[] | undefined;
