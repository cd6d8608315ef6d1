// The page on which all ways have the same work: a burst of equal jobs, one of three classes, nodes that are dragged, and a search as one
// types. What it measures: the longest frame, long tasks (more than 50 ms), how long input waits for its handler, and the whole.

import { WAYS } from "./ways.js";

const element = (id) => document.getElementById(id);
const nextFrame = () => new Promise((done) => requestAnimationFrame(done));

/** Computes for `ms`, whatever else the machine does: the clock is the judge. */
function busy(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** Watches the page until `stop`. */
function watch() {
  const seen = { frames: 0, longest: 0, long: 0, delays: [], began: performance.now() };
  let last = performance.now();
  let watching = true;
  const frame = (now) => {
    if (!watching) return;
    seen.frames++;
    seen.longest = Math.max(seen.longest, now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame((now) => {
    last = now;
    requestAnimationFrame(frame);
  });
  const observer = new PerformanceObserver((list) => (seen.long += list.getEntries().length));
  observer.observe({ type: "longtask" });
  const note = (event) => seen.delays.push(performance.now() - event.timeStamp);
  const INPUT = ["pointerdown", "pointermove", "keydown"];
  INPUT.forEach((name) => addEventListener(name, note, { capture: true }));
  return async () => {
    const total = performance.now() - seen.began;
    // A frame that is still held back counts, and so does a long task that is not told of yet.
    await nextFrame();
    await nextFrame();
    watching = false;
    await new Promise((done) => setTimeout(done, 60));
    seen.long += observer.takeRecords().length;
    observer.disconnect();
    INPUT.forEach((name) => removeEventListener(name, note, { capture: true }));
    const delay = seen.delays.length ? Math.max(...seen.delays) : 0;
    return { longest: seen.longest, long: seen.long, delay, events: seen.delays.length, frames: seen.frames, total };
  };
}

const classOf = (place) => (place % 10 < 1 ? "immediate" : place % 10 < 4 ? "normal" : "idle");

const nodes = Array.from({ length: 200 }, () => element("stage").appendChild(document.createElement("i")));
const lines = Array.from({ length: 60_000 }, (_, number) => `${number * 7919} ${(number * 104729).toString(36)}`);

/** What each load does, until it is `done`; those with input end when it has ended. */
const LOADS = {
  equal: (way) => way(Array.from({ length: 2000 }, () => ({ run: () => busy(0.5), priority: "normal" }))).done,
  classes: (way) =>
    way(Array.from({ length: 2000 }, (_, place) => ({ run: () => busy(0.5), priority: classOf(place) }))).done,
  drag: (way) => {
    const background = way(Array.from({ length: 1000 }, () => ({ run: () => busy(0.5), priority: "idle" })));
    let moving;
    const move = ({ clientX, clientY }) => {
      moving?.cancel();
      const jobs = nodes.map((node, place) => () => {
        busy(0.05); // its layout
        node.style.transform = `translate(${clientX + (place % 20) * 12}px, ${clientY / 2 + Math.floor(place / 20) * 12}px)`;
      });
      moving = way(jobs.map((run) => ({ run, priority: "immediate" })));
    };
    element("stage").onpointermove = move;
    return background.done;
  },
  search: (way) => {
    const background = way(Array.from({ length: 1000 }, () => ({ run: () => busy(0.5), priority: "idle" })));
    let searching;
    element("search").oninput = ({ target }) => {
      searching?.cancel();
      let found = 0;
      const part = (from) => () => {
        for (const line of lines.slice(from, from + 600)) if (line.includes(target.value)) found++;
        busy(0.5); // what a better search would do
        element("found").textContent = found;
      };
      const parts = Array.from({ length: 100 }, (_, place) => ({ run: part(place * 600), priority: "normal" }));
      searching = way(parts);
    };
    return background.done;
  },
};

let running;

/** Starts a load, one way. */
window.begin = async (load, name) => {
  await nextFrame();
  const stop = watch();
  await nextFrame();
  // A while later, when input is on its way: it must meet the load.
  const started = new Promise((done) => setTimeout(done, 40));
  running = { stop, done: started.then(() => LOADS[load](WAYS[name])) };
};

/** What was seen, once it is done. */
window.end = async () => {
  await running.done;
  const seen = await running.stop();
  element("stage").onpointermove = element("search").oninput = null;
  element("search").value = "";
  return seen;
};

window.ways = Object.keys(WAYS);
