// real-time: sends load, and judges how much of it was served in time
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startBrowser } from "../support/browser.ts";
import { type Folder, startGauntlet, temporaryFolder } from "../support/gauntlet.ts";
import { listening } from "../support/listening.ts";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

let browser: Browser;
let folder: Folder;
let runs = 0;

beforeAll(async () => {
  browser = await startBrowser();
  folder = temporaryFolder();
});

afterAll(async () => {
  await browser?.close();
  folder?.[Symbol.dispose]();
});

function workload(name: string, durationS: number): string {
  const path = join(folder.path, `${name}.yaml`);
  const arrivals = `{ kind: closed, inFlight: 3, durationS: ${durationS} }`;
  writeFileSync(path, `name: ${name}\narrivals: ${arrivals}\nmix: [{ dialect: chat, stream: true, maxTokens: 16 }]\n`);
  return path;
}

function startLive(name: string, durationS: number) {
  const what = ["load", workload(name, durationS), "--target", "embedded", "--live"];
  return startGauntlet([...what, "--json", "--out", join(folder.path, `run-${++runs}`)]);
}

/** Polls until the value is as expected, on a slow machine as well. */
const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 45_000 });

const addressIn = (printed: string) => /http:\/\/127\.0\.0\.1:\d+\//.exec(printed.split("live: ")[1] ?? "")?.[0] ?? "";

/** A proxy between the page and the run that can cut the connections. */
async function cuttable(origin: string) {
  const lastEventIds: (string | undefined)[] = [];
  let isCut = false;
  const server = createServer((requested, response) => {
    if (isCut) {
      response.destroy();
      return;
    }
    const { host, pathname } = new URL(requested.url ?? "/", origin);
    const { "last-event-id": lastEventId } = requested.headers;
    if (pathname === "/events") lastEventIds.push(lastEventId?.toString());
    const passed = request(new URL(pathname, origin), { headers: { ...requested.headers, host } }, (relayed) => {
      response.writeHead(relayed.statusCode ?? 502, relayed.headers);
      relayed.pipe(response);
    });
    response.on("close", () => passed.destroy());
    passed.on("error", () => response.destroy());
    passed.end();
  });
  const open = await listening(server, () => server.closeAllConnections());
  return {
    ...open,
    lastEventIds,
    cut: () => {
      isCut = true;
      server.closeAllConnections();
    },
    restore: () => {
      isCut = false;
    },
  };
}

/** Seconds in the page's table, the latest first. */
const secondsOn = async (page: Page): Promise<number[]> =>
  (await page.locator("#rows tr td:first-child").allInnerTexts()).map(Number);

const admittedOn = async (page: Page): Promise<number> => Number(await page.locator("#phases td").nth(3).innerText());

test("the page follows a run, is read with the keyboard, and gets what it missed while the connection was lost", async () => {
  await using run = startLive("followed", 300);
  await using between = await cuttable(addressIn(await run.printed(/live: http.*\n/)));
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => complaints.push(message.text()));
  await page.goto(between.origin);
  await eventually(() => page.locator("h1").innerText()).toMatch(
    /^Load on embedded reference gateway: followed, about (\d+ min )?\d+ s left$/,
  );
  await page.locator("#seconds summary").press("Enter");
  await eventually(() => admittedOn(page)).toBeGreaterThan(0);
  await eventually(async () => (await secondsOn(page)).length).toBeGreaterThan(1);
  expect(await page.locator("#tiles").innerText()).toMatch(/In flight\s+3/);
  // "Now" has no figure of the whole run.
  expect(await page.locator("#tiles").innerText()).not.toMatch(/TTFT|E2E/);
  expect(await page.locator("#totals").innerText()).toMatch(/TTFT[\s\S]*E2E/);
  const columns = await page.locator("table:has(#phases) thead th").count();
  expect(await page.locator("#phases tr").first().locator("th, td").count()).toBe(columns);
  const strokes: string[] = await page.evaluate(
    "[...document.querySelector('figure').querySelectorAll('.key polyline')].map((line) => getComputedStyle(line).stroke)",
  );
  expect(strokes).not.toContain("none");
  expect(new Set(strokes).size).toBe(5);
  expect(complaints).toEqual([]);

  const chart = page.locator("figure > svg").first();
  await chart.focus();
  await page.keyboard.press("ArrowLeft");
  expect(await page.locator("#reading").innerText()).toMatch(/^\d+ s, followed: offered \d+, admitted \d+/);
  await page.keyboard.press("Escape");
  expect(await page.locator("#reading").innerText()).toBe("");
  await page.locator("#pause").press("Space");
  expect(await page.locator("#pause").getAttribute("aria-pressed")).toBe("true");
  await page.locator("#pause").press("Space");

  await page.evaluate(readFileSync(AXE, "utf8"));
  const violations = await page.evaluate("axe.run().then(({ violations }) => violations.map(({ id }) => id))");
  expect(violations).toEqual([]);

  between.cut();
  await eventually(() => page.locator("#connection").innerText()).toMatch(/^Connection lost/);
  const [before = 0] = await secondsOn(page);
  // The run continues: what it shows in the meantime is read next to the page.
  const secondPage = await browser.newPage();
  await secondPage.goto(addressIn(await run.printed("live: ")));
  await secondPage.locator("#seconds summary").press("Enter");
  await eventually(async () => (await secondsOn(secondPage))[0] ?? 0).toBeGreaterThan(before + 2);
  between.restore();
  await eventually(() => page.locator("#connection").innerText()).toBe("Connected");
  await eventually(async () => (await secondsOn(page))[0] ?? 0).toBeGreaterThan(before + 2);
  const seconds = await secondsOn(page);
  expect(seconds).toEqual(seconds.map((_, index) => (seconds[0] ?? 0) - index));
  expect(between.lastEventIds[0]).toBeUndefined();
  expect(between.lastEventIds.at(-1)).toMatch(/^\w+-[1-9]\d*$/);

  run.child.kill("SIGINT");
  await eventually(() => page.locator("#connection").innerText()).toBe("The run has ended");
  expect(await page.locator("#result").innerText()).toMatch(/Exit code 130\. Report: \/.*report\.html$/);
  const { code, stdout } = await run.finished;
  expect(code).toBe(130);
  const [phase] = JSON.parse(stdout).phases;
  expect(await admittedOn(page)).toBe(phase.admitted);
  expect(await page.locator("#result").innerText()).toContain("INCONCLUSIVE");
  expect(await page.locator("body").innerText()).not.toContain("on time");
  await Promise.all([page.close(), secondPage.close()]);
});

test("a run ends on its own, with the same verdict whether or not a page is open", async () => {
  await using run = startLive("short", 3);
  const page = await browser.newPage({ colorScheme: "dark", viewport: { width: 390, height: 800 } });
  await page.goto(addressIn(await run.printed(/live: http.*\n/)));
  await eventually(() => page.locator("#connection").innerText()).toBe("The run has ended");
  const { code, stdout } = await run.finished;
  const { headline, generator } = JSON.parse(stdout);
  // On a busy machine the run is inconclusive, and the page says so.
  expect(code).toBe(generator.valid ? 0 : 4);
  const result = await page.locator("#result").innerText();
  expect(result.startsWith(headline)).toBe(true);
  expect(result).toContain(`\nExit code ${code}. Report: /`);
  expect(await page.locator("#open-report").innerText()).toBe(
    `To open the report: gauntlet show-report ${join(folder.path, `run-${runs}`)}`,
  );
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  await page.evaluate(readFileSync(AXE, "utf8"));
  expect(await page.evaluate("axe.run().then(({ violations }) => violations.map(({ id }) => id))")).toEqual([]);
  await page.close();
});

test("counts never exceed what was offered, and at the end the page has the totals of the run", async () => {
  const path = join(folder.path, "delayed.yaml");
  const arrivals = "{ kind: constant, ratePerS: 10, durationS: 4 }";
  writeFileSync(path, `name: delayed\narrivals: ${arrivals}\nmix: [{ dialect: chat, maxTokens: 16 }]\n`);
  // The last replies end when nothing is offered any more.
  const target = ["--target", "embedded", "--variant", "latency.two-seconds"];
  await using run = startGauntlet([
    ...["load", path, ...target, "--live", "--json", "--out", join(folder.path, "delayed")],
  ]);
  const page = await browser.newPage();
  await page.goto(addressIn(await run.printed(/live: http.*\n/)));
  await page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(window, { seen });
    const tiles = document.querySelector<HTMLElement>("#totals");
    new MutationObserver(() => seen.push(tiles?.innerText ?? "")).observe(document.body, {
      childList: true,
      subtree: true,
    });
  });
  await page.locator("#seconds summary").press("Enter");
  await eventually(() => page.locator("#connection").innerText()).toBe("The run has ended");
  const { stdout } = await run.finished;
  const [phase] = JSON.parse(stdout).phases;

  const seen = (await page.evaluate("window.seen")) as string[];
  const shares = seen.flatMap((text) => [...text.matchAll(/(\d+)\s+of (\d+) offered/g)]);
  expect(shares.length).toBeGreaterThan(3);
  expect(shares.filter(([, part, whole]) => Number(part) > Number(whole)).map(([text]) => text)).toEqual([]);
  // Nothing is streamed: there are no charts, columns or tiles of streams.
  expect(await page.locator("figure:visible figcaption").allInnerTexts()).toEqual([
    "Requests per second",
    "Requests in flight",
    "E2E latency of non-streaming replies, ms",
  ]);
  expect((await page.locator("#columns th").allInnerTexts()).filter((head) => head.startsWith("TTFT"))).toEqual([]);
  // In some second, more requests ended than were offered.
  const rows = await page
    .locator("#rows tr")
    .evaluateAll((all) => all.map((row) => (row as HTMLElement).innerText.split("\t").map(Number)));
  expect(rows.some(([, offered = 0, admitted = 0]) => admitted > offered)).toBe(true);

  expect(await page.locator("#current").isHidden()).toBe(true);
  expect(await page.locator("#totals-title").innerText()).toBe("Totals");
  const totals = await page.locator("#totals > div").allInnerTexts();
  const { offered, admitted, denied, failed, invalid, dropped } = phase;
  expect(offered).toBe(40);
  for (const [index, [name, count]] of Object.entries({
    offered,
    admitted,
    denied,
    failed,
    invalid,
    dropped,
  }).entries())
    expect(totals[index]).toMatch(new RegExp(`^${name}\\s+${count}\\s`, "i"));
  const { p50, p95 } = phase.classes[0].responseMs;
  const threeDigits = (value: number) => Math.round(value).toLocaleString("en");
  expect(totals.at(-1)).toMatch(/^Generator\s+(not )?valid\s/);
  // As in the report: 40 requests are too few for an interval, and for a p99.
  expect(await page.locator("#latencies tr").allInnerTexts()).toEqual([
    "Requests\tp50\tp90\tp95\tp99\tmax",
    "chat non-streaming, 40 requests",
    expect.stringMatching(new RegExp(`^E2E\\t\\S*${threeDigits(p50)}.*\\t\\S+${threeDigits(p95)}.*\\t–\\t\\S+$`)),
  ]);
  expect(await page.locator("#latency-legend").innerText()).toContain("–: too few requests to print the percentile");
  const cells = await page.locator("#phases tr").first().locator("th, td").allInnerTexts();
  expect(cells.slice(3).map(Number)).toEqual([offered, admitted, denied, failed, invalid, dropped]);
  const heads = page.locator("section[aria-labelledby=phases-title] thead th");
  expect((await heads.allInnerTexts()).slice(3)).toEqual([
    "Offered",
    "Admitted",
    "Denied",
    "Failed",
    "Invalid",
    "Dropped",
  ]);
  await page.close();
});

test("each threshold is shown with its value, and whether it is met, crossed or open", async () => {
  const path = join(folder.path, "bounded.yaml");
  const thresholds = ["failed == 0", "invalid > 0", "ttft_ms p999 < 800"];
  writeFileSync(
    path,
    `name: bounded
arrivals: { kind: closed, inFlight: 2, durationS: 8 }
mix: [{ dialect: chat, stream: true, maxTokens: 16 }]
thresholds: ${JSON.stringify(thresholds)}
`,
  );
  await using run = startGauntlet([
    ...["load", path, "--target", "embedded", "--live", "--json", "--out", join(folder.path, `bounded-${++runs}`)],
  ]);
  const page = await browser.newPage({ viewport: { width: 390, height: 800 } });
  await page.goto(addressIn(await run.printed(/live: http.*\n/)));
  const cells = async (column: number) =>
    await page.locator(`#threshold-rows tr > :nth-child(${column})`).allInnerTexts();
  await eventually(() => cells(2)).toEqual(["met so far", "crossed so far", "open"]);
  expect(await cells(1)).toEqual(thresholds);
  await eventually(() => page.locator("#connection").innerText()).toBe("The run has ended");
  expect(await cells(2)).toEqual(["met", "crossed", "inconclusive"]);
  expect(await page.locator("#phases tr > :nth-child(2)").allInnerTexts()).toEqual(["fail"]);
  expect(await page.locator("h1").innerText()).toBe("Load on embedded reference gateway: bounded");
  const tooFew = expect.stringMatching(/^\d[\d,]* samples are too few for p999, which needs 3688$/);
  expect(await cells(3)).toEqual(["0", "0", tooFew]);
  expect(await page.locator("#result").innerText()).toContain("\nExit code 1. Report: ");
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  await page.evaluate(readFileSync(AXE, "utf8"));
  expect(await page.evaluate("axe.run().then(({ violations }) => violations.map(({ id }) => id))")).toEqual([]);
  const { code, stdout } = await run.finished;
  expect(code).toBe(1);
  const { findings } = JSON.parse(stdout).thresholds as { findings: { outcome: string }[] };
  expect(findings.map(({ outcome }) => outcome)).toEqual(["met", "broken", "undecided"]);
  await page.close();
});
