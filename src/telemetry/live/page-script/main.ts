import type { LatencyTable } from "../../../../reports/index.ts";
import type { RunEnd } from "../event-stream.ts";
import type { LiveSecond, LiveUpdate } from "../live-feed.ts";
import { CHARTS, Chart } from "./chart.ts";
import { byId, make } from "./dom.ts";
import {
  applyThresholds,
  chartsWith,
  columnsOf,
  denials,
  headerCell,
  latencyParts,
  phaseRow,
  readingOf,
  secondRow,
  thresholdRow,
} from "./rows.ts";
import { current, latencyTiles, soFar, totals } from "./tiles.ts";

/** In the charts. */
const SHOWN_S = 300;
/** In the table. */
const LISTED_S = 60;

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
  #end: RunEnd | undefined;
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
    this.#end = end ?? undefined;
    byId("pause").hidden = true;
    const result = byId("result");
    result.hidden = false;
    result.className = end?.exitCode === 0 ? "good" : end?.exitCode === 1 ? "bad" : "";
    result.replaceChildren(make("strong", end === null ? "The run ended without a verdict." : end.headline));
    if (end !== null) {
      result.append(`\n${[...end.reasons, `Exit code ${end.exitCode}. Report: ${end.report}`].join("\n")}`);
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
    const ended = this.#end?.runs.find(({ run }) => run === this.#chosen);
    byId("totals").replaceChildren(
      ...(this.#hasEnded ? totals(phases, ended) : soFar(phases, generator, latency)),
      ...(this.#hasEnded && ended === undefined ? latencyTiles(latency) : []),
    );
    this.#showLatencies(ended?.latencies);
    const thresholds = (this.#end ?? this.#latest).thresholds.filter(({ run }) => run === this.#chosen);
    byId("thresholds").hidden = thresholds.length === 0;
    byId("threshold-rows").replaceChildren(...thresholds.map((one) => thresholdRow(one, this.#end === undefined)));
    const isFinal = this.#end !== undefined && phases.length === 1;
    byId("phases").replaceChildren(
      ...phases.map((phase) => phaseRow(isFinal ? applyThresholds(thresholds, phase) : phase)),
    );
    const denied = denials(phases);
    byId("denials-section").hidden = denied.length === 0;
    byId("denials").replaceChildren(...denied);
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

  #showLatencies(table: LatencyTable | undefined): void {
    byId("latencies").hidden = table === undefined || table.kinds.length === 0;
    if (table === undefined) return;
    byId("latencies-title").textContent = `${table.title[0]?.toUpperCase()}${table.title.slice(1)}`;
    byId("latency-table").replaceChildren(...latencyParts(table));
    setText("latency-legend", table.legend.join("; "));
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

/** `2 min 8 s`. */
function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
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
