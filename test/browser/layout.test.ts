import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FORMATS, type ReportSource, readEvidence, renderResultPage } from "../../reports/index.ts";
import { Histogram } from "../../src/metrics/index.ts";
import type { JudgedRun } from "../../src/record/index.ts";
import { startBrowser } from "../support/browser.ts";
import { type Folder, temporaryFolder } from "../support/gauntlet.ts";
import { loadClass, loadHeat, loadPhase, loadRun, loadSeries, quantiles } from "../support/load-records.ts";
import { broken, exchangeLine, facts, recordOf, result } from "../support/records.ts";
import { SAMPLES } from "../support/sample-records.ts";

let browser: Browser;
let folder: Folder;

beforeAll(async () => {
  browser = await startBrowser();
  folder = temporaryFolder();
});

afterAll(async () => {
  await browser?.close();
  folder?.[Symbol.dispose]();
});

/** Phases of a tier run: four short ones in the first seconds, whose names do not fit next to each other. */
const PHASES = [
  ["warm-up", 0, 3],
  ["at-concurrency-limit", 3, 3],
  ["concurrency-release", 6, 7],
  ["at-rate-limit", 13, 7],
  ["over-rate-limit", 20, 102],
  ["recovery", 122, 14],
] as const;

const CLASSES = (["chat", "messages"] as const).flatMap((dialect) => [
  loadClass({ dialect }),
  loadClass({ dialect, stream: false, ttftMs: null, eventGapMs: null, longestStallMs: null, perTokenMs: null }),
]);

function tier(name: string): JudgedRun {
  return loadRun(name, {
    durationS: 136,
    hlog: "load.hlog",
    phases: PHASES.map(([phase, startS, durationS]) =>
      loadPhase(phase, {
        startS,
        durationS,
        classes: CLASSES,
        series: loadSeries(startS, durationS, 60, 50),
        heat: { response: loadHeat(1, durationS, 400), ttft: loadHeat(1, durationS, 90) },
      }),
    ),
    retryAfter: {
      ...(tierSample.retryAfter ?? raise()),
      samples: Array.from({ length: 60 }, (_, index) => ({
        phase: "over-rate-limit",
        atS: 20 + index,
        reason: "rate_limit_exceeded",
        dialect: "chat" as const,
        stream: true,
        header: String(1 + (index % 4)),
        retryAfterWaitMs: 1_000 * (1 + (index % 4)),
        actualMs: 1_000 * (1 + (index % 4)) + 3 * index,
        outcome: "sufficient" as const,
      })),
    },
  });
}

const tierSample = loadRun("sample");

function raise(): never {
  throw new Error("the sample run has figures of Retry-After");
}

/** Durations around a median, and a second kind that is ten times slower. */
function histogramAround(ms: number): Histogram {
  const histogram = new Histogram();
  for (let index = 0; index < 2_000; index++)
    histogram.record(ms * 1_000 * (1 + ((index * 37) % 100) / 80) * (index % 50 === 0 ? 10 : 1));
  return histogram;
}

const HISTOGRAMS = new Map(
  ["starter", "growth", "scale"].flatMap((run) =>
    PHASES.flatMap(([phase]) =>
      ["response", "ttft", "eventGap"].map(
        (figure) =>
          [
            `${run}.${phase}.chat.streaming.admitted.${figure}`,
            histogramAround(figure === "eventGap" ? 20 : 200),
          ] as const,
      ),
    ),
  ),
);

/** About the size of `npm start` for a gateway that passes: nine hundred checks and three tiers. */
const PASS: ReportSource = {
  record: recordOf(
    Array.from({ length: 898 }, (_, index) => result(`suite-${index % 14}.check-${index}[chat,streaming]`, "pass")),
    { command: "run", load: { runs: [tier("starter"), tier("growth"), tier("scale")] } },
  ),
  evidence: () => undefined,
  histograms: () => HISTOGRAMS,
};

const EVERYTHING: ReportSource = {
  record: SAMPLES["everything"] ?? raise(),
  evidence: (id) => readEvidence(exchangeLine(id)),
};

async function opened<T>(source: ReportSource, width: number, visit: (page: Page) => Promise<T>): Promise<T> {
  const path = join(folder.path, "layout.html");
  writeFileSync(path, FORMATS.html(source, "single").get("report.html") ?? "");
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  try {
    await page.goto(pathToFileURL(path).href);
    return await visit(page);
  } finally {
    await page.close();
  }
}

test("a report of a gateway that passes is short before anything is unfolded, and fifteen pages on paper at most", async () => {
  await opened(PASS, 1_280, async (page) => {
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(8_800);
    const pdf = await page.pdf({ format: "A4" });
    const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g) ?? [];
    expect(pages.length).toBeLessThanOrEqual(15);
    // Anything wider than a sheet of A4 without its margins would be cropped.
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: 688, height: 900 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(688);
  });
});

describe.each([
  ["passes", PASS],
  ["has everything", EVERYTHING],
] as const)("a report that %s", (_what, source) => {
  test.each([1_280, 390])(
    "at %i px nothing overflows the page, and no label of a drawing touches another",
    async (width) => {
      await opened(source, width, async (page) => {
        await page.evaluate(() => {
          for (const part of document.querySelectorAll("details")) part.open = true;
        });
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
        const { labels, touching } = await page.evaluate(() => {
          const touching: string[] = [];
          let labels = 0;
          for (const drawing of document.querySelectorAll("figure svg")) {
            const boxes = [...drawing.querySelectorAll("text")].map((text) => ({
              text: text.textContent,
              box: text.getBoundingClientRect(),
            }));
            labels += boxes.length;
            for (const [index, a] of boxes.entries()) {
              for (const b of boxes.slice(index + 1)) {
                const across = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
                const down = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
                // Line boxes include space above and below the letters.
                if (across > 0 && down > a.box.height * 0.3) touching.push(`${a.text} / ${b.text}`);
              }
            }
          }
          return { labels, touching };
        });
        expect(labels).toBeGreaterThan(50);
        expect(touching).toEqual([]);
      });
    },
  );

  test("each table is shown once", async () => {
    await opened(source, 1_280, async (page) => {
      const captions = await page.locator("caption").allTextContents();
      expect(captions.filter((caption, index) => captions.indexOf(caption) !== index && caption !== REPEATED)).toEqual(
        [],
      );
    });
  });
});

/** The small table with the findings of each result. */
const REPEATED = "Expected against observed";

test("a line has a gap where nothing was sent", async () => {
  const [before, after] = [loadSeries(0, 20, 60, 50), loadSeries(40, 20, 60, 50)];
  const run = loadRun("growth", { phases: [loadPhase("soak", { series: [...before, ...after] })] });
  const source = { record: recordOf([], { load: { runs: [run] } }), evidence: () => undefined };
  await opened(source, 1_280, async (page) => {
    const lines = page
      .locator("figure", { has: page.locator("strong", { hasText: "Latency over time" }) })
      .locator("path[class='line-series-1']");
    const drawn = await lines.evaluateAll((paths) => paths.map((path) => path.getAttribute("d") ?? ""));
    expect(drawn.map((d) => d.match(/M/g)?.length)).toEqual([2, 2, 2]);
  });
});

test("a drawing over time is read at the pointer and with the arrow keys", async () => {
  const run = loadRun("growth", {
    phases: [loadPhase("soak", { durationS: 20, series: loadSeries(0, 20, 60, 50) })],
  });
  const source = { record: recordOf([], { load: { runs: [run] } }), evidence: () => undefined };
  await opened(source, 390, async (page) => {
    await page.evaluate(() => {
      for (const part of document.querySelectorAll("details:not(.values)")) part.setAttribute("open", "");
    });
    const figureOf = (title: string) => page.locator("figure", { has: page.locator("strong", { hasText: title }) });
    const readingOf = (title: string) => figureOf(title).locator("[aria-live=polite]").textContent();
    const requests = figureOf("Requests over time").locator("svg[role=img]");
    const cursor = requests.locator(".cursor");
    // A vertical line has no area, so it never counts as visible.
    const isShown = () => cursor.evaluate((line) => getComputedStyle(line).display !== "none");
    expect(await isShown()).toBe(false);
    // The step of second 5: from 5 to 6 of 20 seconds between the ends of the axis.
    const second = { left: 58 + (5 * 784) / 20, right: 58 + (6 * 784) / 20 };
    const scale = ((await requests.boundingBox())?.width ?? 0) / 860;
    for (const x of [second.left + 2, second.right - 2]) {
      await requests.hover({ position: { x: x * scale, y: 60 } });
      expect(await readingOf("Requests over time")).toBe(
        "5 s: offered 65, admitted 50, denied 15, failed 0, invalid 0; in flight 25",
      );
    }
    expect(Number(await cursor.getAttribute("x1"))).toBeCloseTo((second.left + second.right) / 2);
    expect(await isShown()).toBe(true);
    await page.mouse.move(0, 0);
    expect(await readingOf("Requests over time")).toBe("");
    expect(await isShown()).toBe(false);

    const latencies = figureOf("Latency over time").locator(".scroll", { has: page.locator("svg") });
    await latencies.focus();
    await page.keyboard.press("End");
    // The drawing is wider than the page, and follows its cursor.
    expect(await latencies.evaluate(({ scrollLeft }) => scrollLeft)).toBeGreaterThan(0);
    await page.keyboard.press("ArrowLeft");
    const row = await figureOf("Latency over time").locator("tbody tr").nth(18).locator("th, td").allTextContents();
    const [, ...values] = row;
    const panel = (name: string, from: number) =>
      `${name} p50 ${values[from]}, p95 ${values[from + 1]}, p99 ${values[from + 2]} ms`;
    expect(await readingOf("Latency over time")).toBe(
      `18 s: ${panel("TTFT", 0)}; ${panel("E2E streaming", 3)}; ${panel("E2E non-streaming", 6)}`,
    );
    await page.keyboard.press("Escape");
    expect(await readingOf("Latency over time")).toBe("");
  });
});

test("a result is listed under its cause only, and links lead to its requirement and its checks", async () => {
  const finding = (id: string) => broken({ requirements: [id], response: facts("403 forbidden") });
  const record = recordOf([
    result("auth.one[chat]", "fail", { findings: [finding("AUTH-3")] }),
    result("auth.two[chat]", "fail", {
      findings: [finding("AUTH-3"), broken({ pointer: "/x", expected: "a", observed: "b", exchanges: ["x00002"] })],
    }),
    result("limits.unclear", "inconclusive"),
  ]);
  const source = { record, evidence: (id: string) => readEvidence(exchangeLine(id)) };
  await opened(source, 1_280, async (page) => {
    expect(await page.locator("#causes article[id^=cause]").count()).toBe(2);
    for (const id of ["auth-one-chat", "auth-two-chat", "limits-unclear"])
      expect(await page.locator(`#causes #instance-${id}`).count(), id).toBe(1);
    expect(await page.locator("#cause-1 .broken a").first().getAttribute("href")).toBe("#requirement-AUTH-3");
    expect(await page.locator("#requirement-AUTH-3").count()).toBe(1);
    expect(await page.locator("#cause-1").textContent()).toContain("gauntlet explain auth.one");
    expect(await page.locator("#cause-1 .exchange").count()).toBeGreaterThan(0);
  });
});

test("figures of the histogram are those of the table", async () => {
  await opened(PASS, 1_280, async (page) => {
    const { p50, p95, p99 } = quantiles(90);
    const marks = await page.locator("svg[aria-label^='Histogram of TTFT'] text.over").allTextContents();
    expect(marks.slice(0, 4).sort()).toEqual(
      ["% of requests", `p50 ${p50} ms`, `p95 ${p95} ms`, `p99 ${p99} ms`].sort(),
    );
  });
});

/** A sentence that needs most of the width, and a table as `gauntlet size` prints it. */
const RESULT = {
  command: "capacity",
  sentence:
    "No limit found. The highest level tried, 60 requests/s, met the objective (response_ms p99 < 500).\n  The time ran out.",
  endedAt: "2026-11-28T10:00:00.000Z",
  body: `${Array.from({ length: 60 }, () => "│ starter │ 300/min, 64 in flight │ too small │ 93.2 % │ 92.9 % │").join("\n")}\n`,
};

test.each([1_280, 390])("at %i px the page of a result without a record uses the whole width", async (width) => {
  for (const conclusion of [{ result: "inconclusive" }, { prediction: "smallest tier: scale" }] as const) {
    const file = join(folder.path, "result.html");
    writeFileSync(file, renderResultPage({ ...RESULT, conclusion }));
    const page = await browser.newPage({ viewport: { width, height: 900 } });
    await page.goto(pathToFileURL(file).href);
    const { scrollWidth, main, headline, card, outputHeight, lines } = await page.evaluate(() => {
      const box = (selector: string) => document.querySelector(selector)?.getBoundingClientRect() ?? new DOMRect();
      const output = document.querySelector("pre.listing") as HTMLElement;
      return {
        scrollWidth: document.documentElement.scrollWidth,
        main: box("main").width,
        headline: box("h1 .result").right,
        card: box("#verdict").right,
        outputHeight: output.clientHeight,
        lines: output.scrollHeight,
      };
    });
    await page.close();
    expect(scrollWidth).toBeLessThanOrEqual(width);
    expect(main).toBeGreaterThan(width * 0.85);
    expect(headline).toBeLessThan(card);
    expect(lines).toBeLessThanOrEqual(outputHeight);
  }
});
