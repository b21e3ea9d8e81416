import type { LoadClass, LoadPhase, LoadRun, Quantiles, RunRecord } from "../../../src/record/index.ts";
import { oneLine } from "../../clean-text.ts";
import type { ReportSource } from "../../source.ts";
import { type PercentileCurve, PercentilePlot } from "../charts/percentile-plot.tsx";
import { TimeChart } from "../charts/time-chart.tsx";
import { decimal, duration } from "../format.ts";
import { DataTable, Figure, Section } from "../parts.tsx";
import { curveOf } from "../percentile-curve.ts";
import { thin } from "../thin-series.ts";
import { RunHeat } from "./heat.tsx";

/** How long things took: admitted, denied and failed requests apart, response and service time apart. */
export function LatencySection({ source }: { readonly source: ReportSource }) {
  const runs = source.record.load?.runs ?? [];
  return (
    <Section id="latency" title="Latency" finding={sentence(source.record)}>
      {runs.map((run) => (
        <RunLatency key={run.name} run={run} source={source} />
      ))}
    </Section>
  );
}

function sentence({ load }: RunRecord): string {
  const runs = load?.runs ?? [];
  if (runs.length === 0) return "No load was part of this run, so no latency is reported.";
  const streams = runs.flatMap((run) =>
    run.phases.flatMap((phase) =>
      phase.classes.flatMap(({ outcome, ttftMs }) =>
        outcome === "admitted" && ttftMs !== null ? [{ phase, ttftMs }] : [],
      ),
    ),
  );
  const [worst] = streams.sort((a, b) => b.ttftMs.p99 - a.ttftMs.p99);
  if (worst === undefined) return "Nothing was streamed; response and service times stand below.";
  return `Time to first token was at worst ${duration(worst.ttftMs.p50)} in the middle and ${duration(worst.ttftMs.p99)} at p99, in the phase ${oneLine(worst.phase.name, 40)}.`;
}

function RunLatency({ run, source }: { readonly run: LoadRun; readonly source: ReportSource }) {
  const busiest = [...run.phases].sort((a, b) => b.admitted - a.admitted)[0];
  const { points } = thin(run.phases.flatMap(({ series }) => series).sort((a, b) => a.atS - b.atS));
  const phases = run.phases.map(({ name, startS, durationS }) => ({ name: oneLine(name, 24), startS, durationS }));
  const responses = points.flatMap(({ atS, response }) =>
    response === null ? [] : [{ atS, low: response.p50, high: response.p99 }],
  );
  const first = points.flatMap(({ atS, ttft }) => (ttft === null ? [] : [{ atS, value: ttft.p99 }]));
  return (
    <>
      <h3>{oneLine(run.name, 60)}</h3>
      {busiest === undefined ? null : <Percentiles run={run} phase={busiest} source={source} />}
      {responses.length < 2 ? null : (
        <Figure
          title="Latency over time"
          note="Admitted requests by the second in which they ended: from the middle to p99."
          drawing={
            <TimeChart
              label={`Response time of ${oneLine(run.name, 40)} from p50 to p99 and time to first token at p99, over ${decimal(run.durationS)} seconds.`}
              unit="ms"
              phases={phases}
              bands={[{ name: "response time, p50 to p99", points: responses }]}
              lines={first.length < 2 ? [] : [{ name: "time to first token, p99", points: first }]}
            />
          }
        >
          <ClassTable run={run} />
        </Figure>
      )}
      <RunHeat run={run} />
      <ClassTable run={run} />
    </>
  );
}

/** Percentile curves of the phase that admitted most, one drawing per figure so that each has its own scale. */
function Percentiles({
  run,
  phase,
  source,
}: {
  readonly run: LoadRun;
  readonly phase: LoadPhase;
  readonly source: ReportSource;
}) {
  const drawings = [
    {
      title: "Response and service time",
      fields: [
        ["responseMs", "response"],
        ["serviceMs", "service"],
      ],
    },
    {
      title: "Time to first token and gaps between tokens",
      fields: [
        ["ttftMs", "first token"],
        ["gapMs", "gap"],
      ],
    },
  ] as const;
  return (
    <>
      {drawings.map(({ title, fields }) => {
        const curves = phase.classes
          .filter(({ outcome, count }) => outcome === "admitted" && count > 0)
          .slice(0, 2)
          .flatMap((entry) =>
            fields.flatMap(([field, name]) => {
              const curve = curveOf(source, { run, phase, entry, field });
              return curve === undefined
                ? []
                : [{ ...curve, name: `${kindOf(entry)}: ${name}` } satisfies PercentileCurve];
            }),
          );
        if (curves.length === 0) return null;
        return (
          <Figure
            key={title}
            title={title}
            note={`Admitted requests of the phase ${oneLine(phase.name, 40)}. Beyond what the number of samples can tell, the line is dotted.`}
            drawing={
              <PercentilePlot
                label={`${title} by percentile, logarithmic. The table has the figures.`}
                curves={curves}
              />
            }
          >
            <ClassTable run={run} />
          </Figure>
        );
      })}
    </>
  );
}

function kindOf({ dialect, stream }: Pick<LoadClass, "dialect" | "stream">): string {
  return `${dialect} ${stream ? "streaming" : "non-streaming"}`;
}

const COLUMNS = [
  ["responseMs", "response"],
  ["serviceMs", "service"],
  ["ttftMs", "first token"],
  ["gapMs", "gap"],
  ["longestStallMs", "longest stall"],
] as const satisfies readonly (readonly [keyof LoadClass, string])[];

function ClassTable({ run }: { readonly run: LoadRun }) {
  const entries = run.phases.flatMap((phase) => phase.classes.map((entry) => ({ phase, entry })));
  return (
    <DataTable
      caption="Milliseconds by phase, kind and outcome: p50, p99 and the longest"
      head={[
        "Phase",
        "Kind",
        "Outcome",
        { value: "Requests", number: true },
        ...COLUMNS.map(([, value]) => ({ value, number: true })),
      ]}
      rows={entries.map(({ phase, entry }) => [
        oneLine(phase.name, 40),
        kindOf(entry),
        entry.outcome,
        decimal(entry.count),
        ...COLUMNS.map(([field]) => three(entry[field])),
      ])}
    />
  );
}

function three(quantiles: Quantiles | null): string {
  if (quantiles === null) return "–";
  return [quantiles.p50, quantiles.p99, quantiles.max].map((ms) => decimal(ms, ms < 10 ? 1 : 0)).join(" / ");
}
