import pc from "picocolors";
import { expect, test } from "vitest";
import { FORMATS, renderLoad } from "../../reports/index.ts";
import { finding } from "../../src/judging/index.ts";
import type { JudgedLoad, RunRecord } from "../../src/record/index.ts";
import { loadClass, loadPhase, loadRun, loadSeries } from "../support/load-records.ts";
import { attribute, elementsIn, elementsOf, textOf } from "../support/readers.ts";
import { broken, recordOf, result } from "../support/records.ts";

const elementsOfPage = (record: RunRecord) =>
  elementsOf([...FORMATS.html({ record, evidence: () => undefined }, "single").values()].join(""));

const observed = { kind: "facts", text: "about 300 in a window" } as const;
const PHASES = [
  loadPhase("warm-up", {
    durationS: 10,
    series: loadSeries(0, 10, 4, 4),
    findings: [finding({ name: "served", requirements: [], met: true, expected: "all", observed: "all" })],
  }),
  loadPhase("over-rate-limit", {
    startS: 10,
    durationS: 20,
    series: loadSeries(10, 20, 26, 17),
    findings: [
      { ...finding({ name: "window", requirements: [], met: true, observed: "x" }), outcome: "observed", observed },
    ],
    classes: [loadClass(), loadClass({ stream: false, ttftMs: null })],
  }),
];

const pageOf = (load: JudgedLoad, checks: Parameters<typeof recordOf>[0] = []) =>
  elementsOfPage(recordOf(checks, { command: "load", load }));

test.each([
  ["model_not_found", "the model in the target file or the workload is probably wrong"],
  ["not_found", "the path in baseUrl is probably wrong"],
  ["quota_exceeded", undefined],
])("every request denied with %s: %s", (reason, meaning) => {
  const denials = [{ reason, dialect: "chat", stream: true, count: 15 } as const];
  const phase = loadPhase("w", { sent: 15, admitted: 0, denied: 15, failed: 0, invalid: 0, denials });
  const record = recordOf([result("load.w", "fail")], {
    command: "load",
    load: { runs: [loadRun("w", { phases: [phase] })] },
  });
  const printed = renderLoad(record, { colors: pc.createColors(false), folder: "run" });
  if (meaning === undefined) expect(printed).not.toContain("every request was denied");
  else expect(printed).toContain(`every request was denied with ${reason}: ${meaning}; run \`gauntlet doctor\``);
});

test("in the report of a load, the charts come before every table except those next to the verdict", () => {
  const page = pageOf({ runs: [loadRun("growth", { phases: PHASES })] });
  const sections = page.filter(({ tagName }) => tagName === "section").map((section) => attribute(section, "id"));
  expect(sections).toEqual(["verdict", "charts", "tiers", "retry-after", "latency", "data-quality", "environment"]);
  const charts = page.filter((one) => attribute(one, "id") === "charts").flatMap(elementsIn);
  const collapsed = charts.filter(({ tagName }) => tagName === "details").flatMap(elementsIn);
  const tablesIn = (elements: typeof page) => elements.filter(({ tagName }) => tagName === "table");
  expect(tablesIn(charts)).toEqual(tablesIn(collapsed));
  expect(charts.filter(({ tagName }) => tagName === "strong").map(textOf)).toEqual([
    "Latency over time",
    "Requests over time",
  ]);
});

test("findings are listed in the order in which the phases ran", () => {
  const page = pageOf({ runs: [loadRun("growth", { phases: PHASES })] });
  const [table] = page.filter(
    (one) => one.tagName === "table" && textOf(one).startsWith("Expectations met or only observed"),
  );
  const rows = table === undefined ? [] : elementsIn(table).filter(({ tagName }) => tagName === "tr");
  expect(rows.slice(1).map((row) => /warm-up|over-rate-limit/.exec(textOf(row))?.[0])).toEqual([
    "warm-up",
    "over-rate-limit",
  ]);
});

/** Titles of the panels of the chart of latencies. */
const latencyPanels = (phases: typeof PHASES) =>
  pageOf({ runs: [loadRun("growth", { phases })] })
    .filter(({ tagName }) => tagName === "text")
    .map(textOf)
    .filter((text) => /^(TTFT|E2E latency).*, ms \(log scale\)$/.test(text));

test("the main latencies have a row for each figure, and a column for each percentile", () => {
  const page = pageOf({ runs: [loadRun("growth", { phases: PHASES })] });
  const table = page.find((one) => one.tagName === "table" && textOf(one).startsWith("Milliseconds of admitted"));
  const rows = table === undefined ? [] : elementsIn(table).filter(({ tagName }) => tagName === "tr");
  const cells = rows.map((row) =>
    elementsIn(row)
      .filter(({ tagName }) => tagName === "th" || tagName === "td")
      .map(textOf),
  );
  expect(cells[0]).toEqual(["Kind", "Requests", "Figure", "p50", "p90", "p95", "p99", "max"]);
  expect(cells.slice(1).every((row) => row.length === 8)).toBe(true);
  expect(cells.slice(1).map((row) => row[2])).toContain("E2E latency");
});

test("streams and non-streaming replies have a chart of E2E latency each", () => {
  const panels = latencyPanels(PHASES);
  const titles = ["TTFT, ms", "E2E latency of streams, ms", "E2E latency of non-streaming replies, ms"];
  expect(panels).toEqual(titles.map((title) => `${title} (log scale)`));
});

test("the name of a limit is above its panel, where no line can cross it", () => {
  const page = pageOf({ runs: [loadRun("growth", { phases: PHASES })] });
  const place = (text: string) => {
    const label = page.find((one) => one.tagName === "text" && textOf(one) === text);
    return label === undefined ? undefined : attribute(label, "y");
  };
  expect(place("limit, 16.7/s on average")).toBe(place("requests per second"));
  expect(place("limit, 200")).toBe(place("requests in flight"));
});

test("advice to look at the charts links to those of its load", () => {
  const failed = result("load.scale.thresholds", "fail", {
    suite: "load",
    findings: [broken({ requirements: [], pointer: undefined, name: "failed < 1 %", exchanges: [] })],
  });
  const runs = ["growth", "scale"].map((name) => loadRun(name, { phases: PHASES }));
  const record = recordOf([failed], { command: "load", load: { runs } });
  expect(record.causes.map(({ advice }) => advice)).toEqual([expect.stringContaining("The charts of the load")]);
  const [link] = elementsOfPage(record).filter((one) => textOf(one) === "Charts of the load");
  expect(link?.tagName).toBe("a");
  expect(link === undefined ? undefined : attribute(link, "href")).toBe("#charts-scale");
});

test("the error of the calibration is explained next to the figures that it does not change", () => {
  const run = loadRun("growth", { phases: PHASES });
  const quantiles = { p50: 8.5, p90: 90, p95: 120, p99: 167.4, p999: 170, max: 170 };
  const lags = { deliveryLagMs: quantiles, scheduleLagMs: quantiles, ttftErrorMs: quantiles };
  const calibrated = {
    ...run.generator,
    calibration: { ...run.generator.calibration, ...lags, ratePerS: 60, streams: 100 },
  };
  const explained = (generator: typeof run.generator) =>
    pageOf({ runs: [{ ...run, generator }] }).some(
      (one) => one.tagName === "p" && textOf(one).includes("no figure of the load includes it"),
    );
  expect([explained(calibrated), explained({ ...run.generator, calibration: null })]).toEqual([true, false]);
});
