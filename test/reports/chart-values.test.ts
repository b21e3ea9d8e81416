import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { expect, test } from "vitest";
import { type TimePanel, TimePanels } from "../../reports/html/charts/time-panels.tsx";
import { FORMATS } from "../../reports/index.ts";
import type { JudgedPhase } from "../../src/record/index.ts";
import { loadPhase, loadRun, loadSeries } from "../support/load-records.ts";
import { attribute, elementsIn, elementsOf, textOf } from "../support/readers.ts";
import { recordOf } from "../support/records.ts";

const steady = (durationS: number) => loadPhase("steady", { durationS, series: loadSeries(0, durationS, 60, 50) });

/** What is inside the figure with that title, on the page of a run. */
function figureOf(phases: JudgedPhase[], title: string) {
  const record = recordOf([], { command: "load", load: { runs: [loadRun("growth", { phases })] } });
  const page = elementsOf([...FORMATS.html({ record, evidence: () => undefined }, "single").values()].join(""));
  const figures = page.filter(({ tagName }) => tagName === "figure");
  return figures.filter((figure) => textOf(figure).startsWith(title)).flatMap(elementsIn);
}

/** The table of a figure: what opens it, and the texts of its rows. */
function valuesOf(phases: JudgedPhase[], title: string) {
  const [details] = figureOf(phases, title).filter(({ tagName }) => tagName === "details");
  const parts = details === undefined ? [] : elementsIn(details);
  const isCell = ({ tagName }: (typeof parts)[number]) => tagName === "th" || tagName === "td";
  const lines = parts.filter(({ tagName }) => tagName === "tr").map((row) => elementsIn(row).filter(isCell));
  const [head = [], ...rows] = lines.map((cells) => cells.map(textOf));
  const isClosed = details !== undefined && attribute(details, "open") === undefined;
  const isPrinted = details !== undefined && attribute(details, "class")?.split(" ").includes("on-paper");
  return { summary: parts.filter(({ tagName }) => tagName === "summary").map(textOf), isClosed, isPrinted, head, rows };
}

test("latencies over time have a collapsed table with a row for each second", () => {
  const { rows, ...table } = valuesOf([steady(30)], "Latency over time");
  const columns = ["TTFT", "E2E streaming", "E2E non-streaming"].flatMap((name) =>
    ["p50", "p95", "p99"].map((quantile) => `${name} ${quantile}`),
  );
  expect(table).toEqual({
    summary: ["Values every second"],
    isClosed: true,
    isPrinted: false,
    head: ["From second", ...columns],
  });
  expect(rows.map(([second]) => Number(second))).toEqual(Array.from({ length: 30 }, (_, second) => second));
  expect(rows[0]).toEqual(["0", "95", "127", "190", "380", "608", "836", "190", "304", "418"]);
});

test("requests over time have one with their counts, and a second without a latency has a dash", () => {
  const phase = steady(30);
  const series = phase.series.map((second) => (second.atS === 3 ? { ...second, ttftMs: null } : second));
  const { head, rows } = valuesOf([{ ...phase, series }], "Requests over time");
  expect(head).toEqual(["From second", "offered", "admitted", "denied", "failed", "invalid", "in flight"]);
  expect(rows).toHaveLength(30);
  expect(rows[3]).toEqual(["3", "64", "50", "14", "0", "0", "25"]);
  const latencies = valuesOf([{ ...phase, series }], "Latency over time").rows;
  expect(latencies[3]?.slice(0, 5)).toEqual(["3", "–", "–", "–", "405"]);
});

test("two phases in the same second have a row each", () => {
  const phases = [
    loadPhase("early", { durationS: 2.4, series: loadSeries(0, 3, 4, 4) }),
    loadPhase("late", { startS: 2.4, durationS: 3, series: loadSeries(2.4, 3, 4, 4) }),
  ];
  const { rows } = valuesOf(phases, "Requests over time");
  expect(rows.map(([second]) => second)).toEqual(["0.0", "1.0", "2.0", "2.4", "3.4", "4.4"]);
});

test("the table of a long run has the points of the drawing", () => {
  const { summary, rows } = valuesOf([steady(1_799)], "Requests over time");
  expect(summary).toEqual(["Values every 4 seconds"]);
  expect(rows.map(([second]) => second)).toEqual(
    Array.from({ length: 450 }, (_, index) => (index * 4).toLocaleString("en")),
  );
  expect(rows[7]?.slice(0, 5)).toEqual(["28", "58", "50", "8", "0.25"]);
});

test.each([
  ["second", 30],
  ["point, of whose 4 seconds the run has 3", 1_799],
])("a step line has the width of its last %s", (_what, durationS) => {
  const figure = figureOf([steady(durationS)], "Requests over time");
  const drawn = figure.filter((one) => one.tagName === "path" && attribute(one, "class")?.startsWith("line-"));
  const axis = figure.find((one) => attribute(one, "class") === "axis-line");
  const right = axis === undefined ? undefined : attribute(axis, "x2");
  expect(right).toMatch(/^\d+$/);
  // Five outcomes, and in flight.
  expect(drawn.map((one) => /([\d.]+),[\d.]+$/.exec(attribute(one, "d") ?? "")?.[1])).toEqual(
    Array.from({ length: 6 }, () => right),
  );
});

test("a line of samples ends at its last sample, where another line continues", () => {
  const lineOf = (name: string, count: number) => ({
    name,
    points: Array.from({ length: count }, (_, atS) => ({ atS, value: 5 })),
  });
  const panel = { title: "memory", scale: "linear", height: 60, lines: [lineOf("ended", 11), lineOf("running", 21)] };
  const svg = renderToString(h(TimePanels, { label: "memory", phases: [], panels: [panel as TimePanel] }));
  const [ended = 0, running = 0] = [...svg.matchAll(/<path class="line-series-\d" d="[^"]*?([\d.]+),[\d.]+"/g)].map(
    ([, end]) => Number(end),
  );
  expect(running).toBeGreaterThan(ended + 100);
});

test.each([
  ["near each other", 80, 100, 12],
  ["far apart", 400, 4_000, 3],
])("an increase of latency by a fifth is visible where quantiles are %s", (_what, p95, p99, atLeast) => {
  const points = (value: number, later: number) => [0, 1, 2, 3].map((atS) => ({ atS, value: atS < 2 ? value : later }));
  const lines = [
    { name: "p50", points: points(50, 60) },
    { name: "p95", points: points(p95, p95) },
    { name: "p99", points: points(p99, p99) },
  ];
  const panel = { title: "TTFT, ms", scale: "log", height: 92, lines } satisfies TimePanel;
  const svg = renderToString(h(TimePanels, { label: "TTFT", phases: [], panels: [panel] }));
  const drawn = /<path class="line-series-1" d="[^"]*?,([\d.]+)L[^"]*,([\d.]+)"/.exec(svg);
  expect(Number(drawn?.[1]) - Number(drawn?.[2])).toBeGreaterThan(atLeast);
  const axis = [...svg.matchAll(/text-anchor="end">(\S+?)</g)].map(([, text]) => text);
  expect(axis.length).toBeGreaterThanOrEqual(3);
});
