import type { LoadClass, LoadPhase, LoadRun } from "../../src/record/index.ts";
import type { ReportSource } from "../source.ts";

interface Wanted {
  readonly run: LoadRun;
  readonly phase: LoadPhase;
  readonly entry: LoadClass;
  readonly field: "responseMs" | "serviceMs" | "ttftMs" | "gapMs";
}

export interface Curve {
  readonly points: readonly { readonly quantile: number; readonly ms: number }[];
  readonly trusted: number;
}

/** Share of requests beyond which so few samples say little: -ln 0.025 of them should lie above. */
const LEAST_BEYOND = 3.7;

/** Names of the figures in the tags of the log. */
const FIGURES = { responseMs: "response", serviceMs: "service", ttftMs: "ttft", gapMs: "gap" } as const;

/** Quantiles of one figure: of its whole histogram where that was kept, as the record holds them otherwise. */
export function curveOf(source: ReportSource, { run, phase, entry, field }: Wanted): Curve | undefined {
  const quantiles = entry[field];
  if (quantiles === null) return undefined;
  const name = phase.name === run.name ? run.name : `${run.name}.${phase.name}`;
  const tag = `${name}.${entry.dialect}.${entry.stream ? "streaming" : "non-streaming"}.${entry.outcome}.${FIGURES[field]}`;
  const histogram = run.hlog === undefined ? undefined : source.histograms?.(run.hlog).get(tag);
  const count = histogram?.count ?? entry.count;
  const trusted = Math.max(0.5, 1 - LEAST_BEYOND / Math.max(count, 1));
  if (histogram !== undefined && histogram.count > 0) {
    return {
      trusted,
      points: PLACES.map((quantile) => ({ quantile, ms: histogram.quantileUs(quantile) / 1_000 })),
    };
  }
  return {
    trusted,
    points: [
      { quantile: 0.5, ms: quantiles.p50 },
      { quantile: 0.9, ms: quantiles.p90 },
      { quantile: 0.99, ms: quantiles.p99 },
      { quantile: 0.999, ms: quantiles.p999 },
      { quantile: 0.9999, ms: quantiles.max },
    ],
  };
}

/** Twenty points for every nine: from 0 to 99.99 %. */
const PLACES: readonly number[] = Array.from({ length: 81 }, (_, index) => 1 - 10 ** (-index / 20));
