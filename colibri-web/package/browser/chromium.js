// A browser, a server on loopback, and a page in it.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { serve } from "../serve.mjs";

const OPTIONS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Opens what `close` closes again. */
export async function open() {
  const { server, origin } = await serve();
  const profile = mkdtempSync(join(tmpdir(), "colibri-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.COLIBRI_CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: OPTIONS,
    // Pages that are left are kept, as users have it.
    ignoreDefaultArgs: ["--disable-back-forward-cache"],
  });
  const failures = [];
  const page = await context.newPage();
  page.on("pageerror", (error) => failures.push(error.message));
  page.on("requestfailed", (request) => failures.push(request.url()));
  const close = async () => {
    await context.close();
    server.close();
  };
  return { context, page, origin, failures, close };
}
