import type { LoadRun, RunRecord } from "../../../../src/record/index.ts";
import { oneLine } from "../../../clean-text.ts";
import { isLoadOnly, startedLoads } from "../../../figures/started-loads.ts";
import type { Anchors } from "../../anchors.ts";
import { OUTCOME_STYLES } from "../../charts/frame.tsx";
import { type TimePanel, TimePanels } from "../../charts/time-panels.tsx";
import { decimal, enumerate } from "../../format.ts";
import { spansOfRun } from "../../load-phases.ts";
import { Figure, Heading, Section } from "../../parts.tsx";
import { thin } from "../../thin-series.ts";

/** What happened when, right after the thresholds: on the page of a load only. Other pages have the charts next to their tables. */
export function ChartsSection({ record, anchors }: { readonly record: RunRecord; readonly anchors: Anchors }) {
  const runs = runsWithCharts(record);
  return (
    <Section id="charts" title="Over time" finding="Latency and requests over the run.">
      <LatencyNote />
      {runs.map((run) => (
        <div key={run.name}>
          {runs.length > 1 ? <Heading id={anchors.of("charts", run.name)} title={oneLine(run.name, 60)} /> : null}
          <LatencyOverTime run={run} />
          <RequestsOverTime run={run} />
        </div>
      ))}
    </Section>
  );
}

/** The runs of which a page of a load has charts. */
export const runsWithCharts = (record: RunRecord): LoadRun[] =>
  startedLoads(record).filter((run) => pointsOf(run).points.length >= MIN_POINTS);

/** Where the page shows the charts of a run; `undefined` if it has none. */
export function chartsLink(record: RunRecord, { name }: LoadRun, anchors: Anchors): string | undefined {
  const runs = runsWithCharts(record);
  if (!runs.some((run) => run.name === name)) return undefined;
  if (!isLoadOnly(record)) return `#${anchors.of("tier", name)}`;
  return runs.length > 1 ? `#${anchors.of("charts", name)}` : "#charts";
}

/** A single point is not a line. */
const MIN_POINTS = 2;

const pointsOf = ({ phases }: LoadRun) => thin(phases.flatMap(({ series }) => series).sort((a, b) => a.atS - b.atS));

/** How to read latency over time, once for all runs of a section. */
export function LatencyNote() {
  return (
    <p class="note">
      Latency of admitted requests, by the second in which they ended. A gap means that no request ended in that second.
      A point that covers several seconds shows the worst of them. With fewer than 20 requests in a second, p95 and p99
      both show the slowest one.
    </p>
  );
}

/** Quantiles per second; seconds in which no request ended are gaps. */
export function LatencyOverTime({ run }: { readonly run: LoadRun }) {
  const { points, bucketS } = pointsOf(run);
  const drawn = LATENCIES.filter(({ field }) => points.filter((point) => point[field] !== null).length >= MIN_POINTS);
  if (drawn.length === 0) return null;
  const linesOf = (field: LatencyField) =>
    (["p50", "p95", "p99"] as const).map((name) => ({
      name,
      points: points.map((point) => ({ atS: point.atS, value: point[field]?.[name] ?? null })),
    }));
  return (
    <Figure
      title="Latency over time"
      drawing={
        <TimePanels
          label={`Latencies of ${oneLine(run.name, 40)}: ${enumerate(drawn.map(({ title }) => title.replace(/, ms$/, "")))}, at p50, p95 and p99, over ${decimal(run.durationS)} seconds. The table of the classes has the figures per phase.`}
          phases={spansOfRun(run)}
          panels={drawn.map(
            ({ field, ...named }): TimePanel => ({ ...named, scale: "log", height: 92, lines: linesOf(field) }),
          )}
          values={{ what: `Latency of admitted requests in ${oneLine(run.name, 40)}, ms`, everyS: bucketS }}
        />
      }
    />
  );
}

type LatencyField = "ttft" | "streaming" | "nonStreaming";

/** What is drawn of the latencies that a run has. */
const LATENCIES: readonly { readonly field: LatencyField; readonly title: string; readonly prefix: string }[] = [
  { field: "ttft", title: "TTFT, ms", prefix: "TTFT" },
  { field: "streaming", title: "E2E latency of streams, ms", prefix: "E2E streaming" },
  { field: "nonStreaming", title: "E2E latency of non-streaming replies, ms", prefix: "E2E non-streaming" },
];

/** Requests per second and in flight, stacked. */
export function RequestsOverTime({ run }: { readonly run: LoadRun }) {
  const { points, bucketS } = pointsOf(run);
  if (points.length < MIN_POINTS) return null;
  const lineOf = (name: keyof typeof OUTCOME_STYLES) => ({
    name,
    style: OUTCOME_STYLES[name],
    points: points.map((point) => ({ atS: point.atS, value: point[name] })),
  });
  const { limits } = run;
  const perS = limits === null ? 0 : limits.rpm / 60;
  const highest = decimal(Math.max(...points.map(({ inFlight }) => inFlight)));
  return (
    <Figure
      title="Requests over time"
      note={
        bucketS === 1
          ? undefined
          : `Each point is the mean over ${bucketS} seconds; for requests in flight, the maximum.`
      }
      drawing={
        <TimePanels
          label={`Offered, admitted, denied, failed and invalid requests per second of ${oneLine(run.name, 40)} over ${decimal(run.durationS)} seconds, and requests in flight, at most ${highest}. The table of the phases has the totals.`}
          phases={spansOfRun(run)}
          panels={[
            {
              title: "requests per second",
              prefix: "",
              scale: "linear",
              height: 104,
              limit: limits === null ? undefined : { value: perS, name: `limit, ${decimal(perS, 1)}/s on average` },
              lines: (["offered", "admitted", "denied", "failed", "invalid"] as const).map(lineOf),
            },
            {
              title: "requests in flight",
              prefix: "in flight",
              scale: "linear",
              height: 60,
              limit:
                limits === null ? undefined : { value: limits.inFlight, name: `limit, ${decimal(limits.inFlight)}` },
              lines: [{ name: "offered", points: points.map(({ atS, inFlight }) => ({ atS, value: inFlight })) }],
            },
          ]}
          values={{ what: `Requests per second and in flight in ${oneLine(run.name, 40)}`, everyS: bucketS }}
        />
      }
    />
  );
}
