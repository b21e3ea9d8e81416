import * as z from "zod";
import { arrivalKind } from "../arrival-kind.ts";
import type { Schedule } from "../schedule.ts";
import { seconds, whole } from "./written.ts";

const schema = z.strictObject({ kind: z.literal("burst"), size: whole, everyS: seconds, durationS: seconds });

type Burst = Readonly<z.infer<typeof schema>>;

export const burst = arrivalKind<typeof schema, Burst>({
  schema,
  resolve: (written) => written,
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
