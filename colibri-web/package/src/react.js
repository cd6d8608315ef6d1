// A hook for React: a task of a component, of which the latest wins, and which is cancelled when the component is gone.

import { useCallback, useEffect, useRef, useState } from "react";
import { cancel, schedule } from "colibri-web";

const IDLE = { value: undefined, error: undefined, pending: false };

export function useColibriTask(priority = "normal") {
  const [state, setState] = useState(IDLE);
  const latest = useRef(undefined);

  const stop = useCallback(() => {
    if (latest.current) cancel(latest.current);
    latest.current = undefined;
  }, []);

  const run = useCallback(
    (task, options) => {
      stop();
      const started = schedule(task, { ...options, priority });
      latest.current = started;
      setState((before) => ({ ...before, pending: true }));
      const settle = (after) => {
        // A task that was replaced has no say any more.
        if (latest.current !== started) return;
        latest.current = undefined;
        setState((before) => ({ ...before, error: undefined, ...after, pending: false }));
      };
      started.then(
        (value) => settle({ value }),
        (error) => settle({ error }),
      );
    },
    [priority, stop],
  );

  const cancelTask = useCallback(() => {
    stop();
    setState((before) => ({ ...before, pending: false }));
  }, [stop]);

  useEffect(() => stop, [stop]);

  return { ...state, run, cancel: cancelTask };
}
