import type { LoadClass, LoadPhase, LoadRun } from "../../../../src/record/index.ts";
import { oneLine } from "../../../clean-text.ts";
import type { ReportSource } from "../../../evidence/source.ts";
import { headlinePhase, kindOf } from "../../../figures/latency-table.ts";
import { HistogramBars } from "../../charts/histogram-bars.tsx";
import { type PercentileCurve, PercentilePlot } from "../../charts/percentile-plot.tsx";
import { barsOf, curveOf } from "../../distribution.ts";
import { plural } from "../../format.ts";
import { Figure } from "../../parts.tsx";

const FIGURES = [
  { figure: "ttft", title: "TTFT (time to first token)" },
  { figure: "itl", title: "ITL (between tokens)" },
  { figure: "eventGap", title: "Event gap (between events with output)" },
  { figure: "response", title: "E2E latency (response time)" },
] as const;

type Figured = { readonly figure: (typeof FIGURES)[number]["figure"]; readonly title: string };

/** Maximum number of curves in a plot: more are not distinguishable. */
const MAX_CURVES = 4;

/** Latency distributions in the representative phase of the run: bars of the most frequent class, curves of every class. */
export function Distributions({ run, source }: { readonly run: LoadRun; readonly source: ReportSource }) {
  const phase = headlinePhase(run);
  if (phase === undefined) return null;
  const drawn = FIGURES.filter(({ figure }) => classesWith(phase, figure).length > 0);
  if (drawn.length === 0) return null;
  const shown = (figures: readonly Figured[]) =>
    figures.map(({ figure, title }) => (
      <Distribution key={figure} figure={figure} title={title} run={run} phase={phase} source={source} />
    ));
  return (
    <details class="on-paper">
      <summary>
        {`Histograms and percentiles of ${drawn.map(({ title }) => title.split(" (")[0]).join(", ")} in the phase ${oneLine(phase.name, 40)}`}
      </summary>
      {shown(drawn)}
    </details>
  );
}

/** Classes of admitted requests that have the figure, sorted by number of requests. */
function classesWith(phase: LoadPhase, figure: Figured["figure"]): LoadClass[] {
  return phase.classes
    .filter((entry) => entry.outcome === "admitted" && entry.count > 0 && entry[`${figure}Ms`] !== null)
    .sort((a, b) => b.count - a.count);
}

interface DistributionProps extends Figured {
  readonly run: LoadRun;
  readonly phase: LoadPhase;
  readonly source: ReportSource;
}

function Distribution({ figure, title, run, phase, source }: DistributionProps) {
  const classes = classesWith(phase, figure);
  const [most] = classes;
  const quantiles = most?.[`${figure}Ms`] ?? null;
  if (most === undefined || quantiles === null) return null;
  const bars = barsOf(source, { run, phase, entry: most, figure });
  const curves = classes.slice(0, MAX_CURVES).flatMap((entry): PercentileCurve[] => {
    const curve = curveOf(source, { run, phase, entry, figure });
    return curve === undefined ? [] : [{ ...curve, name: kindOf(entry) }];
  });
  const of = `${title} of ${oneLine(run.name, 40)} in the phase ${oneLine(phase.name, 40)}`;
  return (
    <Figure
      title={`${title} of ${oneLine(run.name, 40)}`}
      note={`${bars === undefined ? "" : `Left: ${kindOf(most)}, ${plural(most.count, "request")}. `}A curve is dotted where there are too few samples.`}
      drawing={
        <div class={bars === undefined ? undefined : "halves"}>
          {bars === undefined ? null : (
            <HistogramBars
              label={`Histogram of ${of}, ${kindOf(most)}, with p50, p95 and p99. The table of the classes has the figures.`}
              bars={bars}
              quantiles={quantiles}
            />
          )}
          <div>
            <PercentilePlot label={`${of} by percentile, logarithmic.`} curves={curves} />
          </div>
        </div>
      }
    />
  );
}
