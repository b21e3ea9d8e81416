import * as z from "zod";
import type { PlannedSpan } from "../../external/phase-plan.ts";
import { type ArrivalKind, writtenArrivals } from "../arrival-kind.ts";
import type { Schedule } from "../schedule.ts";
import { rate, seconds } from "./written.ts";

/** A rate for a time. */
export interface Rate {
  readonly ratePerS: number;
  readonly durationS: number;
}

interface Constant extends Rate {
  readonly kind: "constant";
}

export const constant: ArrivalKind<Constant> = {
  plan: ({ ratePerS, durationS }) => ({ requests: Math.ceil(ratePerS * durationS), durationS, peakPerS: ratePerS }),
  schedule: evenSchedule,
  fixed: { spans: (arrivals) => [evenSpan(arrivals)] },
  lasting: (arrivals, durationS = arrivals.durationS) => ({ ...arrivals, durationS }),
};

export const constantInFile = () =>
  writtenArrivals({
    schema: z.strictObject({ kind: z.literal("constant"), ratePerS: rate, durationS: seconds }),
    resolve: (written): Constant => written,
  });

export function evenSchedule({ ratePerS, durationS }: Rate): Schedule {
  let sent = 0;
  const max = ratePerS * durationS;
  // Computed from the index instead of a running sum, which would drift.
  return { next: () => (sent >= max - 1e-9 ? undefined : (sent++ * 1_000_000) / ratePerS) };
}

export function evenSpan({ ratePerS, durationS }: Rate): PlannedSpan {
  return {
    arrivals: { kind: "even", count: Math.max(1, Math.round(ratePerS * durationS)), everyMs: 1_000 / ratePerS },
    gapMs: 0,
  };
}
