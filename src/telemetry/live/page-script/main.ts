import type { RunEnd } from "../event-stream.ts";
import type { LiveLatency, LivePhase, LiveSecond, LiveThreshold, LiveUpdate } from "../live-feed.ts";
import { CHARTS, Chart, type ChartOptions, valuesAt, valueText } from "./chart.ts";
import { byId, figure, make, whole } from "./dom.ts";

/** In the charts. */
const SHOWN_S = 300;
/** In the table. */
const LISTED_S = 60;

const COUNTS = ["offered", "admitted", "denied", "failed", "invalid", "dropped"] as const;
const TONES = { pass: "good", warn: "held", fail: "bad", inconclusive: "held", "not-applicable": "" };

interface Column {
  readonly title: string;
  readonly read: (second: LiveSecond) => string;
}

const columnsOf = (charts: readonly ChartOptions[]): readonly Column[] => [
  { title: "Second", read: ({ atS }) => String(Math.round(atS)) },
  ...charts.flatMap((chart) =>
    chart.series.map(
      ({ name, read }): Column => ({
        title: `${chart.prefix ?? ""}${name}`,
        read: (second) => valueText(chart, read(second)),
      }),
    ),
  ),
];

/** Those with something to draw: not the latencies of a mode that a run does not have. */
const chartsWith = (seconds: readonly LiveSecond[]): readonly ChartOptions[] =>
  CHARTS.filter(
    ({ unit, series }) => unit === "" || seconds.some((second) => series.some(({ read }) => read(second) !== null)),
  );

/** Stores the seconds of each run, as they arrive in events, and draws them. */
class LivePage {
  /** Seconds of each run, by phase and time. */
  readonly #runs = new Map<string, Map<string, LiveSecond>>();
  readonly #charts: readonly Chart[];
  #latest: LiveUpdate | undefined;
  /** The run that is shown. */
  #chosen = "";
  #isPaused = false;
  #hasEnded = false;
  /** As in the report, once the run has ended with a verdict. */
  #finalThresholds: readonly LiveThreshold[] | undefined;
  /** The second that is read. */
  #cursorS: number | undefined;

  constructor() {
    this.#charts = CHARTS.map((options) => this.#newChart(options));
    byId("seconds").addEventListener("toggle", () => this.#show());
    addEventListener("resize", () => this.#show());
    byId("pause").addEventListener("click", () => {
      this.#isPaused = !this.#isPaused;
      byId("pause").setAttribute("aria-pressed", String(this.#isPaused));
      byId("pause").textContent = this.#isPaused ? "Resume" : "Pause";
      this.#show();
    });
  }

  take(update: LiveUpdate): void {
    this.#latest = update;
    for (const { run } of update.phases) if (!this.#runs.has(run)) this.#addRun(run);
    for (const second of update.seconds) this.#runs.get(second.run)?.set(`${second.phase} ${second.atS}`, second);
    if (!this.#isPaused) this.#show();
  }

  end(end: RunEnd | null): void {
    this.#hasEnded = true;
    this.#finalThresholds = end?.thresholds;
    byId("pause").hidden = true;
    const result = byId("result");
    result.hidden = false;
    result.className = end?.exitCode === 0 ? "good" : end?.exitCode === 1 ? "bad" : "";
    result.textContent =
      end === null
        ? "The run ended without a verdict."
        : `${end.headline}${end.reason === undefined ? "" : `, ${end.reason}`}. Exit code ${end.exitCode}. Report: ${end.report}`;
    if (end !== null) {
      byId("open-report").hidden = false;
      byId("open-report").querySelector("code")?.replaceChildren(end.openCommand);
    }
    this.#show();
  }

  #addRun(run: string): void {
    if (this.#runs.size === 0) this.#chosen = run;
    this.#runs.set(run, new Map());
    const input = make("input");
    input.type = "radio";
    input.name = "run";
    input.checked = run === this.#chosen;
    input.addEventListener("change", () => {
      this.#chosen = run;
      this.#cursorS = undefined;
      this.#show();
    });
    const label = make("label");
    label.append(input, ` ${run}`);
    byId("runs").append(label);
    byId("runs").hidden = this.#runs.size < 2;
  }

  #newChart(options: (typeof CHARTS)[number]): Chart {
    const chart = new Chart(options, byId("figures"));
    chart.svg.addEventListener("keydown", (event) => this.#moveCursor(event));
    chart.svg.addEventListener("pointermove", ({ clientX }) => {
      this.#cursorS = chart.secondAt(clientX);
      this.#showCharts();
    });
    chart.svg.addEventListener("pointerleave", () => {
      this.#cursorS = undefined;
      this.#showCharts();
    });
    return chart;
  }

  #moveCursor(event: KeyboardEvent): void {
    const seconds = this.#seconds().slice(-SHOWN_S);
    if (seconds.length === 0) return;
    const found = seconds.findIndex(({ atS }) => atS === this.#cursorS);
    const at = found < 0 ? seconds.length : found;
    const steps: Readonly<Record<string, number>> = {
      ArrowLeft: at - 1,
      ArrowRight: at + 1,
      Home: 0,
      End: seconds.length - 1,
    };
    const to = steps[event.key];
    if (event.key === "Escape") this.#cursorS = undefined;
    else if (to === undefined) return;
    else this.#cursorS = seconds[Math.min(seconds.length - 1, Math.max(0, to))]?.atS;
    event.preventDefault();
    this.#showCharts();
  }

  /** Of the run that is shown, in order. */
  #seconds(): LiveSecond[] {
    return [...(this.#runs.get(this.#chosen)?.values() ?? [])].sort((a, b) => a.atS - b.atS);
  }

  #show(): void {
    if (this.#latest === undefined) return;
    const { target, generator } = this.#latest;
    const latency = this.#latest.latencies.find(({ run }) => run === this.#chosen);
    document.title = `${this.#hasEnded ? "ended" : "live"}: ${target}`;
    const seconds = this.#seconds();
    const phases = this.#latest.phases.filter(({ run }) => run === this.#chosen);
    const leftS = this.#hasEnded ? null : (phases.at(-1)?.runLeftS ?? null);
    const named =
      this.#chosen === "" ? "" : `: ${this.#chosen}${leftS === null ? "" : `, about ${duration(leftS)} left`}`;
    byId("title").textContent = `Load on ${target}${named}`;
    byId("current").hidden = this.#hasEnded;
    byId("tiles").replaceChildren(...current(seconds, phases));
    byId("totals-title").textContent = this.#hasEnded ? "Totals" : "So far";
    byId("totals").replaceChildren(...(this.#hasEnded ? totals(phases, latency) : soFar(phases, generator, latency)));
    const thresholds = (this.#finalThresholds ?? this.#latest.thresholds).filter(({ run }) => run === this.#chosen);
    byId("thresholds").hidden = thresholds.length === 0;
    byId("threshold-rows").replaceChildren(
      ...thresholds.map((one) => thresholdRow(one, this.#finalThresholds === undefined)),
    );
    const isFinal = this.#finalThresholds !== undefined && phases.length === 1;
    byId("phases").replaceChildren(
      ...phases.map((phase) => phaseRow(isFinal ? applyThresholds(thresholds, phase) : phase)),
    );
    byId("denials").replaceChildren(...denials(phases));
    this.#showCharts();
    if (!byId("seconds").hasAttribute("open")) return;
    const columns = columnsOf(chartsWith(seconds));
    byId("columns").replaceChildren(...columns.map(({ title }) => headerCell(title, "col")));
    byId("rows").replaceChildren(
      ...seconds
        .slice(-LISTED_S)
        .reverse()
        .map((second) => secondRow(second, columns)),
    );
  }

  #showCharts(): void {
    const all = this.#seconds();
    const seconds = all.slice(-SHOWN_S);
    const shown = chartsWith(all);
    const events = this.#latest?.events.filter(({ run }) => run === this.#chosen) ?? [];
    for (const chart of this.#charts) {
      chart.isShown = shown.includes(chart.options);
      chart.show(seconds, this.#cursorS, events);
    }
    const second = seconds.find(({ atS }) => atS === this.#cursorS);
    setText("reading", second === undefined ? "" : readingOf(second, shown));
  }
}

/** p50, p95 and p99 of all admitted requests so far. */
function latencyTiles(latency: LiveLatency | undefined): HTMLElement[] {
  const { streaming = null, nonStreaming = null } = latency?.responseByModeMs ?? {};
  const tiles = [
    ["TTFT", latency?.ttftMs ?? null, "all admitted streams"],
    ["E2E latency", streaming, "all admitted streams"],
    ["E2E latency", nonStreaming, "all admitted non-streaming replies"],
  ] as const;
  return tiles.flatMap(([name, of, what]) =>
    of === null
      ? []
      : [tile(`${name} p50 / p95 / p99`, [of.p50, of.p95, of.p99].map(figure).join(" / "), `ms, ${what}`)],
  );
}

/** The running phase and the last second. */
function current(seconds: readonly LiveSecond[], phases: readonly LivePhase[]): HTMLElement[] {
  const last = seconds.at(-1);
  const now = phases.findLast(({ verdict }) => verdict === null);
  const progress =
    now === undefined || now.totalS === null ? "" : `${Math.floor(now.elapsedS)} of about ${Math.ceil(now.totalS)} s`;
  return [
    tile("Phase", now?.phase ?? "none", progress),
    tile("Offered per second", whole(last?.offered), "due in the last second"),
    tile("Admitted per second", whole(last?.admitted), "ended in the last second"),
    tile("In flight", whole(now?.inFlight ?? 0), now === undefined ? "" : `${whole(now.connections)} connections`),
  ];
}

/** Everything since the start of the run. */
function soFar(
  phases: readonly LivePhase[],
  { scheduleLagP99Ms, loopDelayP99Ms, late, wasLate }: LiveUpdate["generator"],
  latency: LiveLatency | undefined,
): HTMLElement[] {
  const sum = sumOf(phases);
  const delays = `lag p99 ${figure(scheduleLagP99Ms)} ms, loop delay p99 ${figure(loopDelayP99Ms)} ms`;
  return [
    ...latencyTiles(latency),
    tile("Admitted", whole(sum("admitted")), `of ${whole(sum("offered"))} offered`),
    tile("Denied", whole(sum("denied")), "", sum("denied") > 0 ? "caution" : ""),
    tile("Failed", whole(sum("failed")), "", sum("failed") > 0 ? "bad" : ""),
    tile("Invalid", whole(sum("invalid")), "2xx replies that no client could use", sum("invalid") > 0 ? "bad" : ""),
    tile(
      "Generator",
      late ? "late" : wasLate ? "was late" : "on time",
      delays,
      late ? "bad" : wasLate ? "caution" : "",
    ),
  ];
}

type CountName = (typeof COUNTS)[number];

const sumOf = (phases: readonly LivePhase[]) => (name: CountName) =>
  phases.reduce((all, { counts }) => all + counts[name], 0);

/** Tiles for a run that has ended. The verdict says whether the generator was late too often for the figures to be trusted. */
function totals(phases: readonly LivePhase[], latency: LiveLatency | undefined): HTMLElement[] {
  const sum = sumOf(phases);
  const durationS = phases.reduce((all, { elapsedS }) => all + elapsedS, 0);
  const ofOffered = `of ${whole(sum("offered"))} offered`;
  const count = phases.length === 1 ? "1 phase" : `${phases.length} phases`;
  return [
    tile("Offered", whole(sum("offered")), `in ${Math.round(durationS)} s, ${count}`),
    tile("Admitted", whole(sum("admitted")), ofOffered),
    tile("Denied", whole(sum("denied")), ofOffered, sum("denied") > 0 ? "caution" : ""),
    tile("Failed", whole(sum("failed")), ofOffered, sum("failed") > 0 ? "bad" : ""),
    tile("Invalid", whole(sum("invalid")), "2xx replies that no client could use", sum("invalid") > 0 ? "bad" : ""),
    tile("Dropped", whole(sum("dropped")), ofOffered, sum("dropped") > 0 ? "caution" : ""),
    ...latencyTiles(latency),
    tile(
      "Admitted per second",
      figure(durationS > 0 ? sum("admitted") / durationS : 0),
      phases.length === 1 ? "until the last response" : "mean of the phases",
    ),
  ];
}

/** `2 min 8 s`. */
function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

function tile(name: string, value: string, note: string, tone = ""): HTMLElement {
  const shown = make("dd", value, tone);
  shown.append(make("small", note));
  const box = make("div");
  box.append(make("dt", name), shown);
  return box;
}

function headerCell(text: string, scope: "col" | "row"): HTMLElement {
  const cell = make("th", text);
  cell.scope = scope;
  return cell;
}

/** Applies the thresholds to the only phase of a load. With several phases, a threshold covers the load as a whole, not one phase. */
function applyThresholds(thresholds: readonly LiveThreshold[], phase: LivePhase): LivePhase {
  const has = (expected: LiveThreshold["outcome"]) => thresholds.some(({ outcome }) => outcome === expected);
  if (has("broken")) return { ...phase, verdict: "fail" };
  return has("undecided") && phase.verdict === "pass" ? { ...phase, verdict: "inconclusive" } : phase;
}

function phaseRow({ phase, verdict, elapsedS, counts }: LivePhase): HTMLElement {
  const row = make("tr");
  row.append(
    headerCell(phase, "row"),
    make("td", verdict ?? "running", verdict === null ? "" : TONES[verdict]),
    make("td", `${Math.floor(elapsedS)} s`),
    ...COUNTS.map((name) => make("td", whole(counts[name]))),
  );
  return row;
}

const THRESHOLD_STATES = {
  met: ["met", "good"],
  broken: ["crossed", "bad"],
  undecided: ["open", "held"],
  observed: ["observed", ""],
} as const;

/** @param isRunning whether the state may still change. */
function thresholdRow({ threshold, outcome, value }: LiveThreshold, isRunning: boolean): HTMLElement {
  const [soFar, tone] = THRESHOLD_STATES[outcome];
  const state = outcome === "undecided" && !isRunning ? "inconclusive" : soFar;
  const row = make("tr");
  row.append(
    headerCell(threshold, "row"),
    make("td", isRunning && outcome !== "undecided" ? `${state} so far` : state, tone),
    make("td", value),
  );
  return row;
}

function denials(phases: readonly LivePhase[]): HTMLElement[] {
  const counts = new Map<string, number>();
  for (const phase of phases)
    for (const { reason, count } of phase.denials) counts.set(reason, (counts.get(reason) ?? 0) + count);
  const items = [...counts].sort(([, a], [, b]) => b - a);
  return items.length === 0
    ? [make("li", "none")]
    : items.map(([reason, count]) => make("li", `${whole(count)} × ${reason}`));
}

function secondRow(second: LiveSecond, columns: readonly Column[]): HTMLElement {
  const row = make("tr");
  row.append(...columns.map(({ read }) => make("td", read(second))));
  return row;
}

function readingOf(second: LiveSecond, charts: readonly ChartOptions[]): string {
  const values = charts.map((chart) => `${chart.prefix ?? ""}${valuesAt(chart, second)}`);
  return `${Math.round(second.atS)} s, ${second.phase}: ${values.join("; ")}`;
}

/** Text that does not change is not read out again. */
function setText(id: string, text: string): void {
  const element = byId(id);
  if (element.textContent !== text) element.textContent = text;
}

function showConnection(text: string, tone: "lost" | "" = ""): void {
  setText("connection", text);
  byId("connection").className = tone;
}

const page = new LivePage();
const events = new EventSource("events");
events.addEventListener("open", () => showConnection("Connected"));
events.addEventListener("error", () => showConnection("Connection lost. Reconnecting…", "lost"));
events.addEventListener("update", ({ data }) => page.take(JSON.parse(data)));
events.addEventListener("end", ({ data }) => {
  events.close();
  showConnection("The run has ended");
  page.end(JSON.parse(data));
});
