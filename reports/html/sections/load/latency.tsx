import { LATENCY_FIGURES } from "../../../../src/metrics/index.ts";
import type { LoadClass, LoadRun } from "../../../../src/record/index.ts";
import { oneLine } from "../../../clean-text.ts";
import type { ReportSource } from "../../../evidence/source.ts";
import { headlineClass, headlinePhase, kindOf } from "../../../figures/latency-table.ts";
import { quantileText, SHOWN_STATS } from "../../../figures/quantiles.ts";
import { isLoadOnly, startedLoads } from "../../../figures/started-loads.ts";
import { decimal, duration, enumerate, ms, plural } from "../../format.ts";
import { DataTable, numbers, Section } from "../../parts.tsx";
import { LatencyNote, LatencyOverTime } from "./charts.tsx";
import { Distributions } from "./distributions.tsx";
import { RunHeat } from "./heat.tsx";

/** Latencies: admitted, denied and failed requests separately, and response and service time separately. */
export function LatencySection({ source }: { readonly source: ReportSource }) {
  const runs = startedLoads(source.record);
  return (
    <Section id="latency" title="Latency" finding={sentence(runs)}>
      {isLoadOnly(source.record) ? null : <LatencyNote />}
      {runs.map((run) => (
        <RunLatency key={run.name} run={run} source={source} />
      ))}
    </Section>
  );
}

/** Maximum number of runs whose figures the sentence gives. */
const MAX_RUNS = 2;

/** `TTFT of chat streaming in at-rate-limit of starter: 0.90 ms at p50, 1.20 ms at p95 and 3.10 ms at p99.`, as next to the verdict. */
function sentence(runs: readonly LoadRun[]): string {
  const figures = runs.flatMap((run) => {
    const phase = headlinePhase(run);
    const entry = phase === undefined ? undefined : headlineClass(phase);
    if (phase === undefined || entry === undefined || entry.ttftMs === null) return [];
    const { ttftMs, count } = entry;
    const known = (["p50", "p95", "p99"] as const).flatMap((stat) => {
      const text = quantileText(ttftMs, stat, { count, write: duration });
      return text === "–" ? [] : [`${text} at ${stat}`];
    });
    const where = phase.name === run.name ? "" : ` in ${oneLine(phase.name, 40)}`;
    return [`TTFT of ${kindOf(entry)}${where} of ${oneLine(run.name, 40)}: ${enumerate(known)}.`];
  });
  if (figures.length === 0) return "Nothing was streamed; E2E latency and service time are below.";
  return figures.slice(0, MAX_RUNS).join(" ");
}

function RunLatency({ run, source }: { readonly run: LoadRun; readonly source: ReportSource }) {
  // The page of a load has its charts further up, and the table of its main latencies here.
  const isOfLoad = isLoadOnly(source.record);
  return (
    <>
      <h3>{oneLine(run.name, 60)}</h3>
      {isOfLoad ? <MainTable run={run} /> : <LatencyOverTime run={run} />}
      <Distributions run={run} source={source} />
      <RunHeat run={run} />
      <ClassTable run={run} />
    </>
  );
}

/** The figures of the admitted requests of the phase that represents the run; the others are in `ClassTable`. */
function MainTable({ run }: { readonly run: LoadRun }) {
  const phase = headlinePhase(run);
  const entries = (phase?.classes ?? []).filter(({ outcome }) => outcome === "admitted");
  if (phase === undefined || entries.length === 0) return null;
  const where = phase.name === run.name ? "" : ` in ${oneLine(phase.name, 40)}`;
  return (
    <DataTable
      caption={`Milliseconds of admitted requests${where}`}
      head={["Kind", ...numbers("Requests"), "Figure", ...numbers(...SHOWN_STATS)]}
      rows={entries.flatMap((entry) =>
        // Streams that do not state their tokens have only gaps between events.
        (["ttft", "response", entry.itlMs === null ? "eventGap" : "itl"] as const).flatMap((figure) => {
          const quantiles = entry[`${figure}Ms`];
          if (quantiles === null) return [];
          const { label } = LATENCY_FIGURES[figure];
          return [[kindOf(entry), decimal(entry.count), label, ...statsOf(quantiles, entry.count)]];
        }),
      )}
    />
  );
}

/** The usual name first, ours below. */
const figureHead = (figure: (typeof COLUMNS)[number]) => ({
  value: (
    <span key={figure} class="split">
      {LATENCY_FIGURES[figure].label}
      <small>{LATENCY_FIGURES[figure].note}</small>
    </span>
  ),
  number: true,
});

// What most readers look for first: a narrow page shows the others only when scrolled.
const COLUMNS = ["ttft", "response", "itl", "eventGap", "textTtft", "perToken", "service", "longestStall"] as const;

/** All figures by phase, kind of request and outcome. */
function ClassTable({ run }: { readonly run: LoadRun }) {
  const entries = run.phases.flatMap((phase) => phase.classes.map((entry) => ({ phase, entry })));
  if (entries.length === 0) return null;
  const columns = COLUMNS.filter((figure) => entries.some(({ entry }) => entry[`${figure}Ms`] !== null));
  return (
    <details class="classes">
      <summary>
        Latency table: {plural(entries.length, "request class", "request classes")},{" "}
        {plural(run.phases.length, "phase")}; p50 / p90 / p95 / p99 / max
      </summary>
      <DataTable
        caption={`Milliseconds of ${oneLine(run.name, 40)} by phase, kind and outcome: p50 / p90 / p95 / p99 / max`}
        head={["Phase and kind", ...numbers("Requests"), ...columns.map(figureHead)]}
        rows={entries.map(({ phase, entry }) => [
          <span key="phase" class="nowrap">
            {oneLine(phase.name, 40)}
            <span class="because">{kindAndOutcome(entry)}</span>
          </span>,
          decimal(entry.count),
          ...columns.map((figure) => {
            const quantiles = entry[`${figure}Ms`];
            return quantiles === null ? "–" : statsOf(quantiles, entry.count).join(" / ");
          }),
        ])}
      />
    </details>
  );
}

function kindAndOutcome(entry: LoadClass): string {
  return `${kindOf(entry)}${entry.outcome === "admitted" ? "" : `, ${entry.outcome}`}`;
}

const statsOf = (quantiles: NonNullable<LoadClass["responseMs"]>, count: number): string[] =>
  SHOWN_STATS.map((stat) => quantileText(quantiles, stat, { count, write: ms }));
