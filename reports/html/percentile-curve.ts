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

/** Quantiles of one figure, as the record holds them. */
export function curveOf(_source: ReportSource, { entry, field }: Wanted): Curve | undefined {
  const quantiles = entry[field];
  if (quantiles === null) return undefined;
  return {
    trusted: Math.max(0.5, 1 - LEAST_BEYOND / Math.max(entry.count, 1)),
    points: [
      { quantile: 0.5, ms: quantiles.p50 },
      { quantile: 0.9, ms: quantiles.p90 },
      { quantile: 0.99, ms: quantiles.p99 },
      { quantile: 0.999, ms: quantiles.p999 },
      { quantile: 0.9999, ms: quantiles.max },
    ],
  };
}
