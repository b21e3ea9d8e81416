import { formatCount, formatNumber } from "../../src/core/index.ts";
import type { LoadPhase } from "../../src/record/index.ts";

type SteadyKind = NonNullable<LoadPhase["steady"]>["kind"];

const UNSTEADY: Readonly<Partial<Record<SteadyKind, string>>> = {
  ramp: "the offered rate rose or fell until the end",
  drift: "the rate or the E2E latency rose or fell until the end",
  growth: "more and more requests were waiting",
  "saw-tooth": "the rate or the E2E latency went up and down",
};

/** Why a phase has no steady state. */
export const describeUnsteady = (kind: SteadyKind): string => UNSTEADY[kind] ?? kind;

/** What a load run that passed showed. */
export interface LoadResultFacts {
  readonly name: string;
  /** Number of phases, and of those that passed; the others of a run that passed have warnings. */
  readonly phases: number;
  readonly passed: number;
  readonly admittedPerS: number;
  /** Whether that is the rate of its steady state; otherwise it is that until the last response. */
  readonly isSteady: boolean;
  readonly denied: number;
  readonly failed: number;
  readonly invalid: number;
  /** Of a tier that was overloaded: its limits, and what a minute of overload admitted, as text. */
  readonly limits?: { readonly rpm: number; readonly inFlight: number; readonly inAMinute: string } | undefined;
  /** Thresholds that were met. */
  readonly thresholds: number;
  /** Denials whose `Retry-After` was tested, and how many of these waits were sufficient. */
  readonly waits: { readonly tested: number; readonly sufficient: number } | undefined;
}

/**
 * `chat: 37.1 admitted/s in the steady state, 0 denied, 0 failed, 0 invalid; 2 thresholds met`, or for a run with several phases, whose rates differ,
 * `starter: all 6 phases passed, 622 denied, 0 failed, 0 invalid; limits of 300/min and 64 in flight hold (admitted in a minute of
 * overload: 300, limit 300); Retry-After sufficient in 60 of 60 tests`.
 */
export function describeLoadResult(facts: LoadResultFacts): string {
  const { name, phases, passed, admittedPerS, isSteady, denied, failed, invalid, limits, thresholds, waits } = facts;
  const first =
    phases > 1
      ? `${passed === phases ? `all ${phases}` : `${passed} of ${phases}`} phases passed`
      : `${formatNumber(admittedPerS, 1)} admitted/s ${isSteady ? "in the steady state" : "until the last response"}`;
  const counts = [
    `${formatNumber(denied)} denied`,
    `${formatNumber(failed)} failed`,
    `${formatNumber(invalid)} invalid`,
  ];
  const more = [
    ...(limits === undefined || passed < phases
      ? []
      : [
          `limits of ${formatNumber(limits.rpm)}/min and ${formatNumber(limits.inFlight)} in flight hold (admitted in a minute of overload: ${limits.inAMinute})`,
        ]),
    ...(thresholds === 0 ? [] : [`${formatCount(thresholds, "threshold")} met`]),
    ...(waits === undefined || waits.tested === 0
      ? []
      : [`Retry-After sufficient in ${formatNumber(waits.sufficient)} of ${formatCount(waits.tested, "test")}`]),
  ];
  return [`${name}: ${[first, ...counts].join(", ")}`, ...more].join("; ");
}
