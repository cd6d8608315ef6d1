// The page that is shown: by pointer and by keyboard, on a phone, in both themes.

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { open } from "./chromium.js";

let browser;
before(async () => (browser = await open()));
after(() => browser.close());
beforeEach(async () => {
  await browser.page.setViewportSize({ width: 1200, height: 900 });
  await browser.page.goto(`${browser.origin}/dist/demo/`);
  await browser.page.waitForFunction(() => document.querySelector("#stage i").style.transform);
});

const rows = () => browser.page.locator(".task").count();
const status = () => browser.page.textContent("#status");
const shareOf = (row) => browser.page.locator(".task .bar").nth(row).getAttribute("aria-valuenow").then(Number);

test("tasks are started, paused, resumed and cancelled", async () => {
  const { page } = browser;
  await page.click("#mix");
  assert.equal(await rows(), 10);
  await page.getByRole("button", { name: "Pause Task 1", exact: true }).click();
  assert.match(await status(), /Task 1 hovers/);
  await page.waitForTimeout(100);
  const paused = await shareOf(0);
  await page.waitForTimeout(300);
  assert.equal(await shareOf(0), paused);
  // Round robin: three equals are about as far.
  const equals = await Promise.all([1, 2, 3].map(shareOf));
  assert.ok(Math.max(...equals) - Math.min(...equals) <= 3, `${equals}`);
  await page.getByRole("button", { name: "Resume Task 1", exact: true }).click();
  await page.getByRole("button", { name: "Cancel Task 1", exact: true }).click();
  assert.match(await status(), /Task 1 was cancelled/);
  await page.waitForFunction(() => document.querySelectorAll(".task").length === 9);
  await page.click("#cancel-all");
  await page.waitForFunction(() => !document.querySelector(".task"));
  assert.deepEqual(browser.failures, []);
});

test("without colibri the page stands still, with it it does not: the page shows it", async () => {
  const { page } = browser;
  await page.waitForTimeout(1100);
  await page.locator("#load").fill("1000");
  await page.check("[value=without]");
  await page.click("[data-start=idle]");
  await page.waitForFunction(() => Number.parseFloat(document.querySelector("#longest").textContent) >= 900);
  await page.check("[value=with]");
  await page.waitForTimeout(3300);
  await page.click("[data-start=idle]");
  await page.waitForFunction(() => !document.querySelector(".task"));
  const longest = Number.parseFloat(await page.textContent("#longest"));
  assert.ok(longest < 500, `${longest} ms`);
});

test("by keyboard alone", async () => {
  const { page } = browser;
  await page.focus("[data-start=normal]");
  await page.keyboard.press("Enter");
  assert.equal(await rows(), 1);
  await page.getByRole("button", { name: "Cancel Task 1", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => !document.querySelector(".task"));
  assert.equal(await page.evaluate(() => document.activeElement.id), "cancel-all"); // not lost
  const place = () => page.evaluate(() => document.querySelector("#stage i").style.transform);
  const before = await place();
  await page.focus("#stage");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction((before) => document.querySelector("#stage i").style.transform !== before, before);
});

test("a search is answered while ten tasks run, and the latest counts", async () => {
  const { page } = browser;
  await page.click("#mix");
  await page.locator("#search").pressSequentially("moon", { delay: 40 });
  await page.waitForFunction(() => document.querySelector("#count").textContent.includes("lines"));
  assert.match(await page.textContent("#results"), /moon/);
  assert.ok((await rows()) > 0);
  await page.click("#cancel-all");
});

test("200 nodes follow the pointer while ten tasks run", async () => {
  const { page } = browser;
  await page.click("#mix");
  await page.locator("#stage").scrollIntoViewIfNeeded();
  const { x, y, width } = await page.locator("#stage").boundingBox();
  await page.mouse.move(x + 50, y + 100);
  await page.mouse.down();
  for (let step = 0; step <= 20; step++) await page.mouse.move(x + 50 + ((width - 100) * step) / 20, y + 100);
  await page.mouse.up();
  const wanted = Math.round(width - 50);
  await page.waitForFunction((wanted) => {
    const [, at] = document.querySelector("#stage i").style.transform.match(/translate\(([\d.]+)px/);
    return Math.abs(at - wanted) < 5;
  }, wanted);
  await page.click("#cancel-all");
});

for (const width of [320, 390, 768])
  test(`nothing sticks out at ${width} px, and what can be touched is large enough`, async () => {
    const { page } = browser;
    await page.setViewportSize({ width, height: 800 });
    await page.click("#mix");
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    const low = await page.evaluate(() => Math.min(...[...document.querySelectorAll("button")].map((b) => b.offsetHeight)));
    assert.ok(low >= 32, `${low} px`);
    await page.click("#cancel-all");
  });

for (const colorScheme of ["light", "dark"])
  test(`texts can be read in the ${colorScheme} theme, and everything has a name`, async () => {
    const { page } = browser;
    await page.emulateMedia({ colorScheme });
    await page.click("#mix");
    const faint = await page.evaluate(() => {
      const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
      const light = (color) => {
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b] = canvas.getImageData(0, 0, 1, 1).data;
        const linear = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
        return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
      };
      const behind = (element) => {
        for (let at = element; at; at = at.parentElement) {
          const { backgroundColor } = getComputedStyle(at);
          if (!/, 0\)$|\/ 0\)$/.test(backgroundColor) && backgroundColor !== "transparent") return light(backgroundColor);
        }
        return 1;
      };
      return [...document.querySelectorAll("h1, h2, h3, p, dt, dd, label, button, figcaption, .name, output, li")]
        .filter((element) => element.offsetHeight && element.textContent.trim())
        .map((element) => {
          const [one, other] = [light(getComputedStyle(element).color), behind(element)];
          return [element.textContent.trim().slice(0, 30), (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)];
        })
        .filter(([, contrast]) => contrast < 4.5);
    });
    assert.deepEqual(faint, []);
    const nameless = await page.evaluate(() =>
      [...document.querySelectorAll("button, input, [role], canvas, svg")]
        .filter((e) => e.getAttribute("role") !== "status" && !e.getAttribute("aria-label") && !e.labels?.length && !e.textContent.trim())
        .map((e) => e.outerHTML.slice(0, 60)),
    );
    assert.deepEqual(nameless, []);
    await page.click("#cancel-all");
    await page.emulateMedia({ colorScheme: null });
  });
