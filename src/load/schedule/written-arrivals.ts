import * as z from "zod";
import type { WrittenArrivals } from "./arrival-kind.ts";
import type { Arrivals } from "./arrivals.ts";
import { burstInFile } from "./kinds/burst.ts";
import { closedInFile } from "./kinds/closed.ts";
import { constantInFile } from "./kinds/constant.ts";
import { poissonInFile } from "./kinds/poisson.ts";
import { rampInFile } from "./kinds/ramp.ts";
import { replayInFile } from "./kinds/replay.ts";
import { sessionsInFile } from "./kinds/sessions.ts";
import { stepsInFile } from "./kinds/steps.ts";

/** Every kind of arrivals as written in a workload file, in the order of the published schema. */
const WRITTEN = {
  constant: constantInFile(),
  poisson: poissonInFile(),
  ramp: rampInFile(),
  steps: stepsInFile(),
  burst: burstInFile(),
  closed: closedInFile(),
  replay: replayInFile(),
  sessions: sessionsInFile(),
} satisfies Record<Arrivals["kind"], unknown>;

type Written = (typeof WRITTEN)[keyof typeof WRITTEN]["schema"];

const [first, ...others] = Object.values(WRITTEN).map(({ schema }) => schema) as [Written, ...Written[]];

/** Arrivals in the format of workload files. */
export const arrivalsSchema = z.discriminatedUnion("kind", [first, ...others]);

/** How a kind is written. The caller passes arrivals of the same kind to its functions. */
export function writtenKindOf({ kind }: { readonly kind: keyof typeof WRITTEN }): WrittenArrivals<z.ZodType, Arrivals> {
  return WRITTEN[kind];
}
