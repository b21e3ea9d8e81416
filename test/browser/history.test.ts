import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { history } from "../../src/commands/history/run.ts";
import { startBrowser } from "../support/browser.ts";
import { type Folder, temporaryFolder } from "../support/gauntlet.ts";
import { loadClass, loadPhase, loadRun, quantiles } from "../support/load-records.ts";
import { recordOf } from "../support/records.ts";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

let browser: Browser;
let folder: Folder;
let page: string;

beforeAll(async () => {
  folder = temporaryFolder();
  for (let index = 0; index < 12; index++) {
    const ttftMs = quantiles((index < 8 ? 90 : 150) + (index % 3));
    const run = loadRun("growth", { phases: [loadPhase("soak", { classes: [loadClass({ ttftMs })] })] });
    const record = recordOf([], {
      runId: `run-${index}`,
      startedAt: `2026-11-${10 + index}T12:00:00.000Z`,
      load: { runs: [run] },
    });
    mkdirSync(join(folder.path, "runs", record.runId), { recursive: true });
    writeFileSync(join(folder.path, "runs", record.runId, "run.json"), JSON.stringify(record));
  }
  const html = join(folder.path, "trends.html");
  const db = join(folder.path, "history.db");
  await history({ paths: [join(folder.path, "runs")], db, metric: [], margin: 10, gate: false, html });
  page = pathToFileURL(html).href;
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  folder?.[Symbol.dispose]();
});

test.each([
  ["light", 1_280],
  ["dark", 390],
] as const)("in %s at %i px axe finds nothing, and nothing overflows the page", async (colorScheme, width) => {
  // axe is injected past the page's own policy, which correctly forbids it.
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
  const opened = await context.newPage();
  await opened.goto(page);
  await opened.evaluate(() => {
    for (const part of document.querySelectorAll("details")) part.open = true;
  });
  expect(await opened.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  await opened.addScriptTag({ path: AXE });
  const violations = await opened.evaluate(async () => {
    const { violations } = await Reflect.get(globalThis, "axe").run(document, { resultTypes: ["violations"] });
    return violations.map(({ id, nodes }: { id: string; nodes: { html: string }[] }) => [id, nodes[0]?.html]);
  });
  expect(violations).toEqual([]);
  await context.close();
});

test("without scripts: every metric that changed is drawn, with the run where it began", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const opened = await context.newPage();
  await opened.goto(page);
  const notes = await opened.locator("main > section > figure .note").allTextContents();
  const changed = notes.filter((note) => note.startsWith("From "));
  expect(changed).toHaveLength(3);
  expect(notes.slice(0, 3)).toEqual(changed);
  // The other two of the three main metrics are drawn although they did not change.
  expect(notes).toHaveLength(5);
  expect(notes[0]).toBe("From 91 ms to 151.5 ms (+66.5 %) with run run-8 of 2026-11-18.");
  await context.close();
});
