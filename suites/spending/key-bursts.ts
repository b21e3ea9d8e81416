import type { RequestSpec, Session } from "../../src/checks/index.ts";
import { type Drive, deniedAtLast, isSpendingDenial, LAG_S, longStream, type UsedUpState } from "./drive.ts";

/** Short requests served of a burst, what one after the other paid for, and the denial that has to follow. */
export type Burst = { readonly served: number; readonly sequential: number; readonly after: Drive["denial"] };

/** Long streams served of so many at once, and of as many as came a few at a time until the denial. */
export type Overshoot = { readonly served: number; readonly atOnce: number; readonly sequential: number };

/** Requests at once that leave room for other checks on the account. */
const mostAtOnce = ({ target }: Session): number => Math.floor((target.limits?.inFlight ?? 64) * 0.7);

/**
 * A burst of long streams on a fresh key, several times what the limit pays for: what parallel requests get past it.
 * Long ones, because short ones are over before the next is looked at.
 */
export async function overshoot(t: Session, state: UsedUpState, sequential: number): Promise<Overshoot | null> {
  const atOnce = Math.min(mostAtOnce(t), sequential * 3 + 12);
  if (sequential === 0 || atOnce < sequential * 2) return null;
  const key = await t.freshKey(`key.${state}`);
  if (key === undefined) return null;
  const responses = await Promise.all(Array.from({ length: atOnce }, () => t.start(longStream(key)).done));
  return { served: responses.filter(({ admitted }) => admitted).length, atOnce, sequential };
}

/** A burst pays for a key's limit so many times over; what is served of it must be enough to have passed the limit. */
const TIMES_OVER = 2;
const ENOUGH = 1.5;

/** Whether what was served of a burst must have passed the limit. */
export function passedTheLimit({ served, sequential }: Pick<Burst, "served" | "sequential">): boolean {
  return served >= sequential * ENOUGH;
}

/**
 * Short requests at once on a fresh key, several times what the limit pays for. How many of them are served is the tally's
 * lag; that they count in the end is not.
 */
export async function burst(t: Session, state: UsedUpState, drives: readonly Drive[]): Promise<Burst | null> {
  const model = drives.find(({ kind, denial, served }) => kind.long !== true && denial !== null && served > 0);
  if (model === undefined) return null;
  const { kind, served: sequential } = model;
  const atOnce = sequential * TIMES_OVER + 4;
  const key = atOnce > mostAtOnce(t) ? undefined : await t.freshKey(`key.${state}`);
  if (key === undefined) return null;
  const request: RequestSpec = { key, endpoint: kind.endpoint, mode: kind.mode, intent: "either", repeats: false };
  const responses = await Promise.all(Array.from({ length: atOnce }, () => t.start(request).done));
  const served = responses.filter(({ admitted }) => admitted).length;
  const denial = responses.find(isSpendingDenial);
  if (denial !== undefined || !passedTheLimit({ served, sequential }))
    return { served, sequential, after: denial ?? null };
  return { served, sequential, after: (await deniedAtLast(t, request, LAG_S[state])).denial };
}
