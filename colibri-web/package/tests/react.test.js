// The hook, with React itself.

import assert from "node:assert/strict";
import { test } from "node:test";
import { JSDOM } from "jsdom";

const { window } = new JSDOM("<!doctype html><div id=root></div>");
const { document, navigator } = window;
Object.assign(globalThis, { window, document, navigator, IS_REACT_ACT_ENVIRONMENT: true });

const { createElement, StrictMode, act } = await import("react");
const { createRoot } = await import("react-dom/client");
const { renderToString } = await import("react-dom/server");
const { useColibriTask } = await import("colibri-web/react");

const pass = (ms = 30) => act(() => new Promise((done) => setTimeout(done, ms)));

function mount(priority, Wrapper = ({ children }) => children) {
  const seen = { renders: [] };
  const Component = () => {
    seen.hook = useColibriTask(priority);
    seen.renders.push(seen.hook.value);
    return createElement("p", null, seen.hook.pending ? "pending" : String(seen.hook.value));
  };
  const root = createRoot(document.getElementById("root"));
  act(() => root.render(createElement(Wrapper, null, createElement(Component))));
  return Object.assign(seen, { root, text: () => document.getElementById("root").textContent });
}

test("a task's value is rendered when it is there", async () => {
  const seen = mount("normal");
  assert.equal(seen.text(), "undefined");
  act(() =>
    seen.hook.run(function* () {
      for (let step = 0; step < 100; step++) yield;
      return "found";
    }),
  );
  assert.equal(seen.text(), "pending");
  await pass();
  assert.equal(seen.text(), "found");
  act(() => seen.root.unmount());
});

test("the latest wins, and the one before is cancelled", async () => {
  const seen = mount("idle");
  const log = [];
  const endless = function* () {
    try {
      for (;;) yield;
    } finally {
      log.push("closed");
    }
  };
  act(() => seen.hook.run(endless));
  await pass();
  act(() => seen.hook.run(() => "second"));
  await pass();
  assert.equal(seen.text(), "second");
  assert.deepEqual(log, ["closed"]);
  assert.equal(seen.renders.includes(undefined), true);
  act(() => seen.root.unmount());
});

test("what it throws is given to the component", async () => {
  const seen = mount();
  act(() =>
    seen.hook.run(() => {
      throw new Error("no");
    }),
  );
  await pass();
  assert.equal(seen.hook.error.message, "no");
  assert.equal(seen.hook.pending, false);
  act(() => seen.hook.run(() => 1));
  await pass();
  assert.deepEqual([seen.hook.error, seen.hook.value], [undefined, 1]);
  act(() => seen.root.unmount());
});

test("it is cancelled by hand, and when the component is gone", async () => {
  const seen = mount("normal");
  let steps = 0;
  const count = function* () {
    for (;;) {
      steps++;
      yield;
    }
  };
  act(() => seen.hook.run(count));
  await pass();
  act(() => seen.hook.cancel());
  assert.equal(seen.hook.pending, false);
  const before = steps;
  await pass();
  assert.equal(steps, before);
  act(() => seen.hook.run(count));
  await pass();
  act(() => seen.root.unmount());
  const after = steps;
  await pass();
  assert.ok(steps === after && after > before);
});

test("in strict mode, which mounts twice", async () => {
  const seen = mount("normal", StrictMode);
  act(() => seen.hook.run(() => "once"));
  await pass();
  assert.equal(seen.text(), "once");
  act(() => seen.root.unmount());
});

test("on a server it renders what there is", () => {
  const Component = () => createElement("p", null, String(useColibriTask().pending));
  assert.equal(renderToString(createElement(Component)), "<p>false</p>");
});
