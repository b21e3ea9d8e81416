import * as z from "zod";
import { type ArrivalKind, writtenArrivals } from "../arrival-kind.ts";
import { seconds, whole } from "./written.ts";

interface Closed {
  readonly kind: "closed";
  readonly inFlight: number;
  readonly requests?: number | undefined;
  readonly durationS?: number | undefined;
  /** Starts are spread over this time; default 1 s. Starting all at once would keep the streams in step for a long time. */
  readonly rampS?: number | undefined;
}

/** A closed loop has no clock: each request waits for the previous response. */
export const closed: ArrivalKind<Closed> = {
  plan: ({ inFlight, requests, durationS }) => ({ requests, durationS, peakPerS: undefined, inFlight }),
  fixed: "a closed loop",
  lasting: (arrivals, durationS) =>
    durationS === undefined
      ? arrivals
      : { kind: "closed", inFlight: arrivals.inFlight, rampS: arrivals.rampS, durationS },
  simulate,
};

export const closedInFile = () =>
  writtenArrivals({
    schema: z.strictObject({
      kind: z.literal("closed"),
      inFlight: whole,
      requests: whole.optional(),
      durationS: seconds.optional(),
      rampS: z.number().nonnegative().optional(),
    }),
    problem: ({ requests, durationS }) =>
      requests === undefined && durationS === undefined ? "a closed loop needs requests or durationS" : undefined,
    resolve: (written): Closed => written,
  });

/** A closed loop as it would run without limits: the next request of a client follows the end of the last. */
function simulate({ inFlight, requests, durationS, rampS = 1 }: Closed, durationUs: () => number, most: number) {
  const endUs = durationS === undefined ? Number.POSITIVE_INFINITY : durationS * 1_000_000;
  const max = Math.min(most, requests ?? most);
  const share = Math.ceil(max / inFlight);
  const planned: { readonly atUs: number; readonly durationUs: number }[] = [];
  for (let client = 0; client < inFlight; client++) {
    let atUs = (client * rampS * 1_000_000) / inFlight;
    for (let sent = 0; sent < share && atUs < endUs && planned.length < max; sent++) {
      const request = { atUs, durationUs: durationUs() };
      planned.push(request);
      atUs += Math.max(1, request.durationUs);
    }
  }
  return planned.sort((a, b) => a.atUs - b.atUs);
}
