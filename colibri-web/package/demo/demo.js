// The page that shows what the package is for. Everything on it that could take long goes by one `run`: with colibri, or in one go.

import { cancel, onSlice, pause, resume, schedule } from "./colibri.js";

const $ = (id) => document.getElementById(id);
const reduced = matchMedia("(prefers-reduced-motion: reduce)");
const withColibri = () => document.querySelector("[name=way]:checked").value === "with";

/** Runs a generator as a task, or to its end at once. */
function run(steps, options) {
  if (withColibri()) return schedule(steps, options);
  for (const _ of steps());
  return undefined;
}

/** Some work: about as many µs. */
function compute(micros) {
  const end = performance.now() + micros / 1000;
  while (performance.now() < end);
}

// ---- Meters: frames, the wait of input, slices.

const frames = [];
const delays = [];
const slices = [];
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const recent = (entries, age) => {
  while (entries.length && performance.now() - entries[0].at > age) entries.shift();
  return entries;
};

onSlice((used) => {
  slices.push(used);
  if (slices.length > 50) slices.shift();
});
for (const name of ["pointerdown", "pointermove", "keydown", "input"])
  addEventListener(name, ({ timeStamp }) => delays.push({ at: performance.now(), took: performance.now() - timeStamp }), true);

function show(id, took, bad) {
  $(id).textContent = took === undefined ? "–" : `${took.toFixed(took < 10 ? 1 : 0)} ms`;
  $(id).classList.toggle("bad", took > bad);
}

const chart = $("frames");
function drawChart() {
  const { clientWidth, clientHeight } = chart;
  const scale = devicePixelRatio;
  if (chart.width !== Math.round(clientWidth * scale)) {
    chart.width = Math.round(clientWidth * scale);
    chart.height = Math.round(clientHeight * scale);
  }
  const pen = chart.getContext("2d");
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, clientWidth, clientHeight);
  const width = 4;
  const height = (took) => Math.min(1, took / 100) * (clientHeight - 4);
  const last = frames.slice(-Math.floor(clientWidth / width));
  last.forEach(({ took }, place) => {
    pen.fillStyle = took > 50 ? colors.bad : colors.good;
    pen.fillRect(place * width, clientHeight - height(took), width - 1, height(took));
  });
  pen.fillStyle = colors.line;
  pen.fillRect(0, clientHeight - height(1000 / 60), clientWidth, 1);
}

const colors = {};
// A variable with `light-dark` is resolved only where a property uses it.
function readColors() {
  const probe = document.body.appendChild(document.createElement("i"));
  for (const [name, variable] of [["good", "--accent"], ["bad", "--warn"], ["line", "--soft"]]) {
    probe.style.color = `var(${variable})`;
    colors[name] = getComputedStyle(probe).color;
  }
  probe.remove();
}
readColors();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readColors);

// What the browser does to load the page is not the page's doing.
const LOADING_MS = 1000;

let lastFrame;
let shown = 0;
function frame(now) {
  if (lastFrame !== undefined && now > LOADING_MS) frames.push({ at: now, took: now - lastFrame });
  if (frames.length > 1000) frames.splice(0, 500);
  lastFrame = now;
  if (!reduced.matches) {
    $("bird-body").setAttribute("transform", `translate(${Math.sin(now / 700) * 7} ${Math.sin(now / 430) * 5})`);
    $("wing").setAttribute("transform", `rotate(${Math.sin(now / 22) * 34} 0 -4)`);
  }
  drawChart();
  drawTasks();
  if (now - shown > 200) {
    shown = now;
    const most = (entries) => (entries.length ? Math.max(...entries.map(({ took }) => took)) : undefined);
    show("longest", most(frames.filter(({ at }) => now - at < 3000)), 60);
    show("delay", most(recent(delays, 3000)), 60);
    show("used", median(slices), 60);
  }
  requestAnimationFrame(frame);
}
// A page that comes back from the background starts anew: nobody saw the frames that were not drawn.
document.addEventListener("visibilitychange", () => (lastFrame = undefined));

// ---- The work, and the queues.

const shownTasks = new Set();
let numbers = 0;

function say(text) {
  $("status").textContent = text;
}

function start(priority) {
  const item = { name: `Task ${++numbers}`, done: 0, work: Number($("load").value) };
  item.row = document.createElement("li");
  item.row.className = "task";
  item.row.innerHTML = '<span class="name"></span><span class="bar" role="progressbar" aria-valuemin="0" aria-valuemax="100"><i></i></span>';
  item.row.querySelector(".name").textContent = `#${numbers}`;
  item.bar = item.row.querySelector(".bar");
  item.bar.setAttribute("aria-label", `${item.name}, ${priority}`);
  const button = (text, call) => {
    const made = item.row.appendChild(document.createElement("button"));
    made.type = "button";
    made.textContent = text;
    made.setAttribute("aria-label", `${text} ${item.name}`);
    made.onclick = () => call(made);
    return made;
  };
  button("Pause", (made) => {
    const paused = item.row.classList.toggle("paused");
    made.textContent = paused ? "Resume" : "Pause";
    made.setAttribute("aria-label", `${made.textContent} ${item.name}`);
    (paused ? pause : resume)(item.task);
    say(`${item.name} ${paused ? "hovers" : "goes on"}.`);
  });
  button("Cancel", () => {
    cancel(item.task);
    say(`${item.name} was cancelled.`);
  });
  document.querySelector(`[data-lane=${priority}]`).append(item.row);
  shownTasks.add(item);
  const steps = function* () {
    const began = performance.now();
    while (item.done < item.work) {
      compute(200);
      item.done += 0.2;
      yield;
    }
    return performance.now() - began;
  };
  const over = () => {
    const focused = item.row.contains(document.activeElement);
    item.row.remove();
    shownTasks.delete(item);
    // Who used its buttons is not thrown back to the page's beginning.
    if (focused) (document.querySelector(".task button") ?? $("cancel-all")).focus();
    if (!shownTasks.size) say("All tasks have ended.");
  };
  say(withColibri() ? `${shownTasks.size} tasks are running.` : "Running in one go.");
  item.task = run(steps, { priority });
  if (item.task) item.task.then(over, over);
  else over();
}

function drawTasks() {
  for (const { bar, done, work } of shownTasks) {
    const share = Math.min(1, done / work);
    bar.firstChild.style.transform = `scaleX(${share})`;
    const percent = String(Math.round(share * 100));
    if (bar.getAttribute("aria-valuenow") !== percent) bar.setAttribute("aria-valuenow", percent);
  }
}

for (const button of document.querySelectorAll("[data-start]")) button.onclick = () => start(button.dataset.start);
$("mix").onclick = () => {
  for (let count = 0; count < 10; count++) start(count < 1 ? "immediate" : count < 4 ? "normal" : "idle");
};
$("cancel-all").onclick = () => {
  for (const { task } of shownTasks) cancel(task);
  say("All were cancelled.");
};

function sliders() {
  const slice = Number($("slice").value);
  schedule.slice = slice || undefined;
  $("slice-said").textContent = slice ? `${slice} ms` : "by itself";
  $("load-said").textContent = `${(Number($("load").value) / 1000).toFixed(1)} s`;
}
$("slice").oninput = $("load").oninput = sliders;
sliders();

// ---- Search as you type: the latest wins.

const WORDS = "sun moon river stone blue green quick hover wing flower nectar night amber cloud ember frost".split(" ");
const lines = Array.from({ length: 200_000 }, (_, number) => {
  const word = (shift) => WORDS[(Math.imul(number + shift, 2654435761) >>> 20) % WORDS.length];
  return `${number} ${word(1)} ${word(77)} ${word(1234)}`;
});
const MOST_SHOWN = 6;

let searching;
$("search").oninput = ({ target }) => {
  if (searching) cancel(searching);
  const wanted = target.value.trim().toLowerCase();
  if (!wanted) {
    $("count").textContent = "Type something.";
    $("results").replaceChildren();
    return;
  }
  searching = run(
    function* () {
      let count = 0;
      const best = [];
      for (let from = 0; from < lines.length; from += 250) {
        for (let place = from; place < from + 250; place++)
          if (lines[place].includes(wanted)) {
            count++;
            if (best.length < MOST_SHOWN) best.push(lines[place]);
          }
        yield;
      }
      showResults(wanted, count, best);
    },
    { priority: "immediate" },
  );
  searching?.catch(() => {});
};

function showResults(wanted, count, best) {
  $("count").textContent = `${count.toLocaleString("en")} ${count === 1 ? "line" : "lines"}`;
  $("results").replaceChildren(
    ...best.map((line) => {
      const item = document.createElement("li");
      const at = line.indexOf(wanted);
      const mark = document.createElement("mark");
      mark.textContent = wanted;
      item.append(line.slice(0, at), mark, line.slice(at + wanted.length));
      return item;
    }),
  );
}

// ---- Drag 200 nodes.

const stage = $("stage");
const nodes = Array.from({ length: 200 }, (_, place) => {
  const angle = place * 2.399963; // the golden angle: a sunflower
  const radius = 6.4 * Math.sqrt(place);
  return { element: stage.appendChild(document.createElement("i")), x: Math.cos(angle) * radius, y: Math.sin(angle) * radius };
});
const flock = { x: 150, y: 115 };
let moving;

function move() {
  if (moving) cancel(moving);
  moving = run(
    function* () {
      for (const { element, x, y } of nodes) {
        compute(40); // what a real layout would take
        element.style.transform = `translate(${flock.x + x}px, ${flock.y + y}px)`;
        yield;
      }
    },
    { priority: "immediate" },
  );
}
function moveTo(x, y) {
  flock.x = Math.min(Math.max(x, 0), stage.clientWidth);
  flock.y = Math.min(Math.max(y, 0), stage.clientHeight);
  move();
}
stage.onpointerdown = (event) => {
  stage.setPointerCapture(event.pointerId);
  moveTo(event.offsetX, event.offsetY);
};
stage.onpointermove = (event) => {
  if (!stage.hasPointerCapture(event.pointerId)) return;
  const { left, top } = stage.getBoundingClientRect();
  moveTo(event.clientX - left, event.clientY - top);
};
const ARROWS = { ArrowLeft: [-12, 0], ArrowRight: [12, 0], ArrowUp: [0, -12], ArrowDown: [0, 12] };
stage.onkeydown = (event) => {
  const by = ARROWS[event.key];
  if (!by) return;
  event.preventDefault();
  moveTo(flock.x + by[0], flock.y + by[1]);
};
flock.x = stage.clientWidth / 2;
move();

requestAnimationFrame(frame);
