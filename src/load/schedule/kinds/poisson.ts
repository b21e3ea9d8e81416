import * as z from "zod";
import { seededRandom } from "../../../core/index.ts";
import { type ArrivalKind, writtenArrivals } from "../arrival-kind.ts";
import type { Schedule } from "../schedule.ts";
import { evenSpan, type Rate } from "./constant.ts";
import { rate, seconds } from "./written.ts";

/** Standard deviations by which a Poisson schedule may exceed its mean. */
const SIGMAS = 6;

interface Poisson extends Rate {
  readonly kind: "poisson";
  readonly seed?: number | undefined;
}

export const poisson: ArrivalKind<Poisson> = {
  plan({ ratePerS, durationS }) {
    const requests = Math.ceil(ratePerS * durationS);
    return { requests, maxRequests: maxPoisson(requests), durationS, peakPerS: ratePerS };
  },
  schedule: (arrivals, seed) => poissonSchedule(arrivals, arrivals.seed ?? seed),
  fixed: {
    spans: (arrivals) => [evenSpan(arrivals)],
    evenly: "k6 has no Poisson arrivals: requests are sent evenly",
  },
  lasting: (arrivals, durationS = arrivals.durationS) => ({ ...arrivals, durationS }),
};

export const poissonInFile = () =>
  writtenArrivals({
    schema: z.strictObject({
      kind: z.literal("poisson"),
      ratePerS: rate,
      durationS: seconds,
      seed: z.int().optional(),
    }),
    resolve: (written): Poisson => written,
  });

export function poissonSchedule({ ratePerS, durationS }: Rate, seed: number): Schedule {
  const random = seededRandom(seed);
  let atUs = 0;
  return {
    next() {
      atUs += (-Math.log(1 - random()) * 1_000_000) / ratePerS;
      return atUs >= durationS * 1_000_000 ? undefined : atUs;
    },
  };
}

/** Upper bound on the number of arrivals: the mean and six standard deviations. @param mean number of arrivals. */
export function maxPoisson(mean: number): number {
  return Math.ceil(mean + SIGMAS * Math.sqrt(mean) + 1);
}
