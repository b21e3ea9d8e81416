import { formatNumber } from "../../src/core/index.ts";
import type { LoadPhase, LoadRun } from "../../src/record/index.ts";
import { oneLine } from "../clean-text.ts";
import { headlinePhase } from "./latency-table.ts";

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

/** A rate of a run, and what it is the rate of. */
export interface AdmittedRate {
  readonly perS: number;
  /** `api, steady state from 1 s to 19 s`. */
  readonly note: string;
}

/**
 * For a tier, the rate admitted at its rate limit (which is per minute); for a workload, its steady throughput. `undefined` for a tier whose
 * rate limit was not reached.
 */
export function admittedRate(run: LoadRun): AdmittedRate | undefined {
  const { kind, limits, phases } = run;
  const phase = headlinePhase(run);
  if (kind === "workload" && phase !== undefined) {
    const { admittedPerS, steady } = throughputOf(phase);
    const when = steady === undefined ? "until the last response" : steadyText(steady);
    return { perS: admittedPerS, note: `${oneLine(phase.name, 40)}, ${when}` };
  }
  const atLimit = phases.find(({ name }) => name === "at-rate-limit");
  if (atLimit === undefined || limits === null) return undefined;
  return { perS: atLimit.rates.admitted, note: `at-rate-limit, limit ${formatNumber(limits.rpm / 60, 1)}/s` };
}
