import * as z from "zod";
import { type ArrivalKind, writtenArrivals } from "../arrival-kind.ts";
import type { Schedule } from "../schedule.ts";
import { seconds, whole } from "./written.ts";

interface Burst {
  readonly kind: "burst";
  readonly size: number;
  readonly everyS: number;
  readonly durationS: number;
}

export const burst: ArrivalKind<Burst> = {
  plan({ size, everyS, durationS }) {
    return { requests: size * Math.ceil(durationS / everyS), durationS, peakPerS: size / Math.min(1, everyS) };
  },
  schedule,
  fixed: {
    spans: ({ size, everyS, durationS }) =>
      Array.from({ length: Math.max(1, Math.ceil(durationS / everyS - 1e-9)) }, () => ({
        arrivals: { kind: "at-once", count: size },
        gapMs: everyS * 1_000,
      })),
  },
};

export const burstInFile = () =>
  writtenArrivals({
    schema: z.strictObject({ kind: z.literal("burst"), size: whole, everyS: seconds, durationS: seconds }),
    resolve: (written): Burst => written,
  });

function schedule({ size, everyS, durationS }: Burst): Schedule {
  let sent = 0;
  return {
    next() {
      const atUs = Math.floor(sent / size) * everyS * 1_000_000;
      sent++;
      return atUs >= durationS * 1_000_000 ? undefined : atUs;
    },
  };
}
