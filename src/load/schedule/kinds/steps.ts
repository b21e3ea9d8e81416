import * as z from "zod";
import { type ArrivalKind, writtenArrivals } from "../arrival-kind.ts";
import type { Schedule } from "../schedule.ts";
import { evenSchedule, evenSpan, type Rate } from "./constant.ts";
import { rate, seconds } from "./written.ts";

interface Steps {
  readonly kind: "steps";
  readonly steps: readonly Rate[];
}

export const steps: ArrivalKind<Steps> = {
  plan(arrivals) {
    const requests = arrivals.steps.reduce((sum, step) => sum + Math.ceil(step.ratePerS * step.durationS), 0);
    const durationS = arrivals.steps.reduce((sum, step) => sum + step.durationS, 0);
    return { requests, durationS, peakPerS: Math.max(...arrivals.steps.map(({ ratePerS }) => ratePerS)) };
  },
  schedule,
  fixed: { spans: (arrivals) => arrivals.steps.map(evenSpan) },
};

export const stepsInFile = () =>
  writtenArrivals({
    schema: z.strictObject({
      kind: z.literal("steps"),
      steps: z.array(z.strictObject({ ratePerS: rate, durationS: seconds })).min(1),
    }),
    resolve: (written): Steps => written,
  });

function schedule({ steps: plan }: Steps): Schedule {
  let index = 0;
  let beginUs = 0;
  let current = plan[0] && evenSchedule(plan[0]);
  return {
    next() {
      while (current !== undefined) {
        const atUs = current.next();
        if (atUs !== undefined) return beginUs + atUs;
        beginUs += (plan[index]?.durationS ?? 0) * 1_000_000;
        const step = plan[++index];
        current = step && evenSchedule(step);
      }
      return undefined;
    },
  };
}
