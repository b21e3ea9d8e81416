import { formatNumber } from "../../src/core/index.ts";
import type { LoadPhase } from "../../src/record/index.ts";

/** Part of a phase, seconds from the start of the run. */
interface Part {
  readonly fromS: number;
  readonly toS: number;
}

/** Admitted requests per second: of the steady part of a phase if there is one, otherwise until its last response. */
export function throughputOf({ rates, series, steady }: LoadPhase): {
  readonly admittedPerS: number;
  readonly steady: Part | undefined;
} {
  const { fromS = null, toS = null } = steady ?? {};
  if (fromS === null || toS === null || toS <= fromS) return { admittedPerS: rates.admitted, steady: undefined };
  const within = series.filter(({ atS }) => atS >= fromS && atS < toS);
  const admitted = within.reduce((sum, second) => sum + second.admitted, 0);
  return { admittedPerS: admitted / (toS - fromS), steady: { fromS, toS } };
}

/** `steady state from 4 s to 14 s`. */
export const steadyText = ({ fromS, toS }: Part): string =>
  `steady state from ${formatNumber(fromS)} s to ${formatNumber(toS)} s`;
