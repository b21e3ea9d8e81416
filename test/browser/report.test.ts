import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FORMATS, type ReportSource, readEvidence } from "../../reports/index.ts";
import type { CheckResult, RunRecord } from "../../src/record/index.ts";
import { serve, startBrowser } from "../support/browser.ts";
import { type Folder, temporaryFolder } from "../support/gauntlet.ts";
import { hostileSource } from "../support/hostile.ts";
import { loadPhase, loadRun, loadSeries } from "../support/load-records.ts";
import { exchangeLine, recordOf, result } from "../support/records.ts";
import { SAMPLES } from "../support/sample-records.ts";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
/** What Jenkins effectively sends with the files of a build. */
const JENKINS = "sandbox; default-src 'none'; img-src 'self'; style-src 'self';";

const RECORD = recordOf([
  result("auth.good[chat]", "pass"),
  result("auth.bad[chat]", "fail"),
  result("auth.bad[messages]", "fail"),
  result("auth.away", "blocked"),
  result("limits.advice", "warn"),
]);
const SOURCE: ReportSource = { record: RECORD, evidence: (id) => readEvidence(exchangeLine(id)) };

let browser: Browser;
let folder: Folder;
let file: string;

beforeAll(async () => {
  browser = await startBrowser();
  folder = temporaryFolder();
  file = join(folder.path, "report.html");
  writeFileSync(file, FORMATS.html(SOURCE, "single").get("report.html") ?? "");
});

afterAll(async () => {
  await browser?.close();
  folder?.[Symbol.dispose]();
});

interface Opened {
  readonly page: Page;
  /** Addresses that the page requested besides itself. */
  readonly requested: readonly string[];
  readonly complaints: readonly string[];
}

/** Opens a page, does something with it, and closes it. */
async function opened<T>(
  url: string,
  options: BrowserContextOptions,
  visit: (opened: Opened) => Promise<T>,
): Promise<T> {
  const context = await browser.newContext(options);
  try {
    const page = await context.newPage();
    const requested: string[] = [];
    const complaints: string[] = [];
    page.on("request", (request) => {
      if (request.url() !== url) requested.push(request.url());
    });
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("dialog", (dialog) => complaints.push(`dialog: ${dialog.message()}`));
    await page.goto(url);
    return await visit({ page, requested, complaints });
  } finally {
    await context.close();
  }
}

const fromDisk = () => pathToFileURL(file).href;

describe.each([true, false])("opened from disk, scripting %s", (javaScriptEnabled) => {
  test("everything is included and nothing is fetched", async () => {
    await opened(fromDisk(), { javaScriptEnabled }, async ({ page, requested, complaints }) => {
      expect(await page.locator("h1").innerText()).toMatch(/Fail\s+staging/);
      expect(await page.locator("section > h2").allInnerTexts()).toEqual(
        expect.arrayContaining([expect.stringMatching(/^Coverage/), expect.stringMatching(/^Causes/)]),
      );
      expect(await page.locator("#causes article").count()).toBe(2);
      const columns = page.locator("article .observed").first();
      expect(await columns.textContent()).toBe("403");
      // Our own style was applied: the page does not use the browser's default font.
      expect(await page.locator("body").evaluate((body) => getComputedStyle(body).marginTop)).toBe("0px");
      expect(await page.locator(".tools").count()).toBe(javaScriptEnabled ? 1 : 0);
      expect({ requested, complaints }).toEqual({ requested: [], complaints: [] });
    });
  });
});

test("under a policy that forbids scripts and inline styles, the folder shows the same", async () => {
  const files = FORMATS.html(SOURCE, "folder");
  await using site = await serve(files, JENKINS);
  await opened(`${site.url}/report/index.html`, {}, async ({ page, requested, complaints }) => {
    expect(requested.filter((url) => !url.startsWith(site.url))).toEqual([]);
    expect(await page.locator("body").evaluate((body) => getComputedStyle(body).marginTop)).toBe("0px");
    expect(await page.locator("h1").innerText()).toMatch(/Fail\s+staging/);
    // The script is refused, as the server's policy intends; nothing else is.
    expect(complaints.filter((text) => !/script/i.test(text))).toEqual([]);
  });
  const both = await Promise.all(
    [`${site.url}/report/index.html`, fromDisk()].map((url) =>
      opened(url, { javaScriptEnabled: false }, ({ page }) => page.locator("main").innerText()),
    ),
  );
  expect(both[0]).toBe(both[1]);
});

test("the folder opened from disk has its style and its script", async () => {
  for (const [name, text] of FORMATS.html(SOURCE, "folder")) {
    writeFileSync(join(folder.path, name.replace("report/", "")), text);
  }
  await opened(pathToFileURL(join(folder.path, "index.html")).href, {}, async ({ page, complaints }) => {
    expect(await page.locator("body").evaluate((body) => getComputedStyle(body).marginTop)).toBe("0px");
    expect(await page.locator(".tools").count()).toBe(1);
    expect(complaints).toEqual([]);
  });
});

test("a hostile record runs nothing, in either form", async () => {
  const hostile = hostileSource();
  const path = join(folder.path, "hostile.html");
  writeFileSync(path, FORMATS.html(hostile, "single").get("report.html") ?? "");
  await opened(pathToFileURL(path).href, {}, async ({ page, requested, complaints }) => {
    await page.evaluate(() => {
      for (const part of document.querySelectorAll("details")) part.open = true;
    });
    expect(await page.evaluate(() => Reflect.get(globalThis, "pwned"))).toBeUndefined();
    expect(await page.locator("img, iframe, object, embed, form").count()).toBe(0);
    expect({ requested, complaints }).toEqual({ requested: [], complaints: [] });
  });
});

test("a run with load, gates and a comparison shows every section and every drawing with its table", async () => {
  await opened(everything(), { javaScriptEnabled: false }, async ({ page, complaints }) => {
    const ids = [
      "verdict",
      "data-quality",
      "gates",
      "changes",
      "coverage",
      "causes",
      "tiers",
      "retry-after",
      "latency",
    ];
    for (const id of [...ids, "environment"]) expect(await page.locator(`#${id}`).count(), id).toBe(1);
    expect(await page.locator("figure").count()).toBeGreaterThanOrEqual(6);
    for (const drawing of await page.locator("figure svg[role=img]").all()) {
      expect(await drawing.getAttribute("aria-label")).toMatch(/\w{3}/);
      expect((await drawing.innerHTML()).includes("NaN")).toBe(false);
    }
    expect(complaints).toEqual([]);
  });
});

function everything(): string {
  const record = SAMPLES["everything"];
  if (record === undefined) throw new Error("no such sample");
  const path = join(folder.path, "everything.html");
  writeFileSync(path, FORMATS.html({ record, evidence: () => undefined }, "single").get("report.html") ?? "");
  return pathToFileURL(path).href;
}

test.each([
  ["light", 1280],
  ["dark", 1280],
  ["light", 390],
] as const)("axe finds nothing serious in %s at %i px, and nothing overflows the page", async (colorScheme, width) => {
  // axe is injected past the page's own policy, which correctly forbids it.
  const options: BrowserContextOptions = { colorScheme, viewport: { width, height: 900 }, bypassCSP: true };
  await opened(everything(), options, async ({ page }) => {
    await page.evaluate(() => {
      for (const part of document.querySelectorAll("details")) part.open = true;
    });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await page.addScriptTag({ path: AXE });
    const violations = await page.evaluate(async () => {
      const axe = Reflect.get(globalThis, "axe");
      const { violations } = await axe.run(document, { resultTypes: ["violations"] });
      return violations.map(({ id, impact, nodes }: { id: string; impact: string; nodes: { html: string }[] }) => ({
        id,
        impact,
        where: nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)),
      }));
    });
    expect(violations).toEqual([]);
  });
});

test("keyboard: the skip link comes first, parts open, links open what they point into", async () => {
  await opened(fromDisk(), {}, async ({ page }) => {
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to the verdict");
    await page.keyboard.press("Enter");
    await page.waitForURL(/#main$/);
    const closed = page.locator("details:not([open]) > summary").first();
    await closed.focus();
    const part = closed.locator("..");
    const id = await part.evaluate((node) => {
      node.setAttribute("data-part", "1");
      return node.getAttribute("open");
    });
    expect(id).toBeNull();
    await page.keyboard.press("Enter");
    expect(await page.locator("[data-part]").getAttribute("open")).toBe("");
    await page.evaluate(() => {
      for (const part of document.querySelectorAll("details")) part.open = false;
      location.hash = "#instance-auth-bad-messages";
    });
    await page.locator("#instance-auth-bad-messages[open]").waitFor();
  });
});

test("the filter of the check list", async () => {
  await opened(fromDisk(), {}, async ({ page }) => {
    await page.getByRole("searchbox").fill("bad messages");
    expect(await page.locator("#check-list tbody tr:visible").count()).toBe(1);
    expect(await page.getByRole("status").innerText()).toBe("1 of 5 shown");
    await page.getByRole("searchbox").fill("");
    await page.getByRole("combobox").selectOption("fail");
    expect(await page.getByRole("status").innerText()).toBe("2 of 5 shown");
    expect(await page.locator("#check-list tbody tr:visible").count()).toBe(2);
  });
});

test("printed: light, complete, without what only a screen needs", async () => {
  await opened(fromDisk(), { colorScheme: "dark", javaScriptEnabled: false }, async ({ page }) => {
    await page.emulateMedia({ media: "print" });
    expect(await page.locator("nav").isVisible()).toBe(false);
    // A closed section that belongs on paper is printed with its content; the list of every check is not.
    const isPrinted = (part: string) =>
      page
        .locator(part)
        .first()
        .evaluate((node) => node.checkVisibility({ contentVisibilityAuto: true }));
    expect(await isPrinted("details.on-paper:not([open]) > .areas")).toBe(true);
    expect(await isPrinted("#check-list > .areas")).toBe(false);
    const pdf = await page.pdf({ format: "A4" });
    expect(pdf.subarray(0, 5).toString()).toBe("%PDF-");
    const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g) ?? [];
    expect(pages.length).toBeGreaterThan(1);
  });
});

describe("what there is nothing to say about", () => {
  const LOAD_ONLY = loadRun("growth");
  const QUIET = loadRun("growth", { retryAfter: null });
  const UNBEGUN = loadRun("growth", { phases: [] });
  const TIMED = loadRun("growth", { phases: [loadPhase("w", { series: loadSeries(0, 20, 16, 17) })] });
  const ALL = ["Over time", "Under load", "Retry-After", "Latency"];

  test.each<[what: string, record: RunRecord, shown: readonly string[]]>([
    ["a run of checks", recordOf([result("auth.good", "pass")]), []],
    ["a load run", recordOf([], { command: "load", load: { runs: [TIMED] } }), ALL],
    ["a load run without a series", recordOf([], { command: "load", load: { runs: [LOAD_ONLY] } }), ALL.slice(1)],
    ["a load run without waits", recordOf([], { command: "load", load: { runs: [QUIET] } }), ["Under load", "Latency"]],
    ["a load run that never began", recordOf([], { command: "load", load: { runs: [UNBEGUN] }, complete: false }), []],
  ])("%s has no empty section, and no link to one", async (_what, record, shown) => {
    await visited(record, async (page) => {
      const titles = (await page.locator("section > h2").allInnerTexts()).map((text) =>
        text.replace(/\s*#$/, "").trim(),
      );
      const links = (await page.locator("nav.toc a").allInnerTexts()).map((text) => text.trim());
      expect(titles.filter((title) => ALL.includes(title))).toEqual(shown);
      expect(links.filter((title) => ALL.includes(title))).toEqual(shown);
      expect(await page.locator("main").innerText()).not.toMatch(/had no load|No Retry-After wait/);
    });
  });

  const waived = { reason: "known", owner: "team", expires: "2026-12-01" };
  test.each<[what: string, checks: readonly CheckResult[], isRed: boolean | undefined]>([
    ["a pass", [result("auth.good", "pass")], undefined],
    ["a warning", [result("auth.good", "pass"), result("auth.advice", "warn")], false],
    ["an undecided check", [result("auth.unclear", "inconclusive")], false],
    ["a waived failure", [result("auth.known", "fail", { findings: [], waived })], false],
    ["a failure", [result("auth.bad", "fail")], true],
    ["an error of Gauntlet", [result("auth.crash", "harness-error")], true],
  ])("%s: the number next to Causes is red only for a failure", async (_what, checks, isRed) => {
    await visited(recordOf(checks), async (page) => {
      const badge = page.locator("nav.toc b");
      const isShown = (await badge.count()) > 0;
      const colorOf = (locator: Locator) => locator.evaluate((node) => getComputedStyle(node).color);
      const red = await page.evaluate(() => {
        const probe = document.createElement("i");
        probe.className = "mark bad";
        document.body.append(probe);
        return getComputedStyle(probe).color;
      });
      expect(isShown ? (await colorOf(badge)) === red : undefined).toBe(isRed);
    });
  });

  async function visited(record: RunRecord, visit: (page: Page) => Promise<void>): Promise<void> {
    const own = join(folder.path, "other.html");
    const source: ReportSource = { record, evidence: (id) => readEvidence(exchangeLine(id)) };
    writeFileSync(own, FORMATS.html(source, "single").get("report.html") ?? "");
    await opened(pathToFileURL(own).href, {}, ({ page }) => visit(page));
  }
});
