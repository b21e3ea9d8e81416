import * as z from "zod";
import { type ArrivalKind, writtenArrivals } from "../arrival-kind.ts";
import type { Schedule } from "../schedule.ts";
import { seconds } from "./written.ts";

interface Ramp {
  readonly kind: "ramp";
  readonly fromPerS: number;
  readonly toPerS: number;
  readonly durationS: number;
}

export const ramp: ArrivalKind<Ramp> = {
  plan({ fromPerS, toPerS, durationS }) {
    const requests = Math.ceil(((fromPerS + toPerS) / 2) * durationS);
    return { requests, durationS, peakPerS: Math.max(fromPerS, toPerS) };
  },
  schedule,
  fixed: {
    spans: ({ fromPerS, toPerS, durationS }) => [
      { arrivals: { kind: "ramp", fromPerS, toPerS, durationMs: durationS * 1_000 }, gapMs: 0 },
    ],
  },
};

export const rampInFile = () =>
  writtenArrivals({
    schema: z.strictObject({
      kind: z.literal("ramp"),
      fromPerS: z.number().nonnegative(),
      toPerS: z.number().nonnegative(),
      durationS: seconds,
    }),
    resolve: (written): Ramp => written,
  });

/** The rate changes linearly: the n-th arrival is where the integral of the rate reaches n. */
function schedule({ fromPerS, toPerS, durationS }: Ramp): Schedule {
  let sent = 0;
  const slope = (toPerS - fromPerS) / durationS;
  const total = ((fromPerS + toPerS) / 2) * durationS;
  return {
    next() {
      if (sent >= total - 1e-9) return undefined;
      const n = sent++;
      if (Math.abs(slope) < 1e-9) return (n * 1_000_000) / fromPerS;
      const root = Math.sqrt(Math.max(0, fromPerS * fromPerS + 2 * slope * n));
      return ((root - fromPerS) / slope) * 1_000_000;
    },
  };
}
