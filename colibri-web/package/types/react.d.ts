import type { Options, Priority } from "./colibri.js";

/** What the hook gives a component. */
export interface ColibriTask<T> {
  /**
   * Starts a task in the hook's class. The one before is cancelled: only the latest counts.
   */
  readonly run: (task: () => T | Generator<unknown, T>, options?: Omit<Options, "priority">) => void;
  /** Cancels the task, if one is under way. */
  readonly cancel: () => void;
  /** What the latest finished task returned. */
  readonly value: T | undefined;
  /** What the latest task threw. */
  readonly error: unknown;
  /** Whether a task is under way. */
  readonly pending: boolean;
}

/** A task of a component: the latest wins, and it is cancelled when the component is gone. */
export function useColibriTask<T = unknown>(priority?: Priority): ColibriTask<T>;
