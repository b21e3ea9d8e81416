import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { matrix } from "../../src/commands/matrix/run.ts";
import { startBrowser } from "../support/browser.ts";
import { CLEAN, claimOf, runForClaims } from "../support/claims.ts";
import { type Folder, temporaryFolder } from "../support/gauntlet.ts";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

let browser: Browser;
let folder: Folder;
/** From the claims alone, and with the records. */
const pages: string[] = [];

beforeAll(async () => {
  folder = temporaryFolder();
  const at = (...names: string[]) => join(folder.path, ...names);
  await runForClaims(at("good"));
  await runForClaims(at("bad"), ["stream.cut-after-a-second", "auth.messages-with-any-key"]);
  mkdirSync(at("runs"));
  const startedAt = "2026-11-10T12:00:00.000Z";
  claimOf(at("bad"), at("runs", "a"), { name: "Gateway A", version: "1.9.0", startedAt });
  claimOf(at("good"), at("runs", "b"), { name: "Gateway A", version: "1.10.0", startedAt });
  claimOf(at("bad"), at("runs", "c"), { name: "averylongnameofagatewaywithoutanyspaces", version: "2", startedAt });
  const harness = { ...CLEAN, dirty: true };
  claimOf(at("good"), at("runs", "d"), { name: "Gateway D", version: "1", startedAt, harness });
  const claims = ["a", "b", "c", "d"].map((name) => at("runs", name, "claim.json"));
  for (const records of [undefined, at("runs")]) {
    const out = at(`out-${pages.length}`);
    matrix({ claims, out, records });
    pages.push(pathToFileURL(join(out, "index.html")).href);
  }
  browser = await startBrowser();
}, 240_000);

afterAll(async () => {
  await browser?.close();
  folder?.[Symbol.dispose]();
});

test.each([
  ["light", 1_280, 0],
  ["dark", 390, 0],
  ["dark", 1_280, 1],
  ["light", 390, 1],
] as const)(
  "in %s at %i px axe finds nothing, and nothing overflows the page (%i)",
  async (colorScheme, width, page) => {
    // axe is injected past the page's own policy, which correctly forbids it.
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
    const opened = await context.newPage();
    await opened.goto(pages[page] ?? "");
    expect(await opened.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await opened.addScriptTag({ path: AXE });
    const violations = await opened.evaluate(async () => {
      const { violations } = await Reflect.get(globalThis, "axe").run(document, { resultTypes: ["violations"] });
      return violations.map(({ id, nodes }: { id: string; nodes: { html: string }[] }) => [id, nodes[0]?.html]);
    });
    expect(violations).toEqual([]);
    await context.close();
  },
);

test("with the keyboard alone, a failing cell leads to its evidence", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1_280, height: 900 } });
  const opened = await context.newPage();
  await opened.goto(pages[0] ?? "");
  const cell = opened.locator("#matrix tbody tr", { hasText: "averylongname" }).getByText("not conformant").first();
  // Reached with the tab key: the cell is a link.
  for (let presses = 0; presses < 100; presses++) {
    await opened.keyboard.press("Tab");
    if ((await cell.locator("xpath=ancestor-or-self::a").and(opened.locator(":focus")).count()) > 0) break;
  }
  await opened.keyboard.press("Enter");
  const target = opened.locator(":target");
  await target.waitFor();
  expect(await target.locator("h4").first().textContent()).toMatch(/violated/);
  expect(await target.isVisible()).toBe(true);
  await context.close();
});

test("without a script, a checkbox leaves only the gateways that meet its profile", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1_280, height: 900 } });
  const opened = await context.newPage();
  await opened.goto(pages[0] ?? "");
  const rows = opened.locator("#matrix tbody tr");
  expect(await rows.count()).toBe(4);
  await opened.getByLabel("streaming", { exact: true }).check();
  const visible = rows.filter({ visible: true });
  expect(await visible.locator("th").allTextContents()).toEqual([expect.stringMatching(/^Gateway A1\.10\.0/)]);
  await opened.getByLabel("money", { exact: true }).check();
  expect(await visible.count()).toBe(0);
  await opened.getByLabel("money", { exact: true }).uncheck();
  expect(await visible.count()).toBe(1);
  await context.close();
});

test("on paper everything is there, in light colours", async () => {
  const context = await browser.newContext({ colorScheme: "dark" });
  const opened = await context.newPage();
  await opened.goto(pages[1] ?? "");
  await opened.emulateMedia({ media: "print" });
  const background = () => {
    const header = document.querySelector('#matrix th[scope="row"]');
    return header === null ? "" : getComputedStyle(header).backgroundColor;
  };
  expect(await opened.evaluate(background)).toBe("rgb(247, 247, 245)");
  const pdf = await opened.pdf({ format: "A4" });
  expect(pdf.subarray(0, 5).toString()).toBe("%PDF-");
  await context.close();
});
