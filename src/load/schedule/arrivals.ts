import { InternalError } from "../../core/index.ts";
import type { ArrivalKind, PlannedTotals } from "./arrival-kind.ts";
import { burst } from "./kinds/burst.ts";
import { closed } from "./kinds/closed.ts";
import { constant } from "./kinds/constant.ts";
import { poisson } from "./kinds/poisson.ts";
import { ramp } from "./kinds/ramp.ts";
import { replay } from "./kinds/replay.ts";
import { sessions } from "./kinds/sessions.ts";
import { steps } from "./kinds/steps.ts";
import type { Schedule } from "./schedule.ts";

/** Every kind of arrivals. `written-arrivals.ts` lists how they are written. */
export const ARRIVAL_KINDS = { constant, poisson, ramp, steps, burst, closed, replay, sessions };

type Kinds = typeof ARRIVAL_KINDS;

type ArrivalsOf<Kind> = Kind extends ArrivalKind<infer Arrivals> ? Arrivals : never;

/** When requests are due. */
export type Arrivals = ArrivalsOf<Kinds[keyof Kinds]>;
export type ClosedArrivals = Extract<Arrivals, { kind: "closed" }>;

/** The declaration of a kind. The caller passes arrivals of the same kind to its functions. */
export function kindOf({ kind }: { readonly kind: keyof Kinds }): ArrivalKind<Arrivals> {
  return ARRIVAL_KINDS[kind];
}

export function planOf(arrivals: Arrivals): PlannedTotals {
  return kindOf(arrivals).plan(arrivals);
}

/** @param arrivals of an open loop. @param seed for random arrivals without a seed. */
export function scheduleOf(arrivals: Arrivals, seed: number): Schedule {
  const schedule = kindOf(arrivals).schedule?.(arrivals, seed);
  if (schedule === undefined) throw new InternalError(`${arrivals.kind} arrivals have no schedule`);
  return schedule;
}
