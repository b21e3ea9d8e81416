import type { RequestSpec, Session } from "../../src/checks/index.ts";
import { type Drive, isSpendingDenial, LAG_S, longStream, pollUntilDenied, type UsedUpState } from "./drive.ts";

/** Short requests served in a burst, the number that the budget paid for sequentially, and the denial that must follow. */
export type Burst = { readonly served: number; readonly sequential: number; readonly after: Drive["denial"] };

/** Long streams served when this many were concurrent, and when they were sent a few at a time until the denial. */
export type Overshoot = { readonly served: number; readonly atOnce: number; readonly sequential: number };

/** Number of concurrent requests that leaves room for other checks on the account. */
const mostAtOnce = ({ target }: Session): number => Math.floor((target.limits?.inFlight ?? 64) * 0.7);

/**
 * A burst of long streams on a fresh key, several times what the limit pays for: how many get past it concurrently. Long ones,
 * because short ones end before the next is checked.
 */
export async function overshoot(t: Session, state: UsedUpState, sequential: number): Promise<Overshoot | null> {
  const atOnce = Math.min(mostAtOnce(t), sequential * 3 + 12);
  if (sequential === 0 || atOnce < sequential * 2) return null;
  const key = await t.fixtures.freshKey(`key.${state}`);
  if (key === undefined) return null;
  const responses = await Promise.all(Array.from({ length: atOnce }, () => t.start(longStream(key)).done));
  return { served: responses.filter(({ admitted }) => admitted).length, atOnce, sequential };
}

/** A burst is this many times what a key's limit pays for; the number served must be enough to have passed the limit. */
const TIMES_OVER = 2;
const ENOUGH = 1.5;

/** Whether the served part of a burst must have passed the limit. */
export function passedTheLimit({ served, sequential }: Pick<Burst, "served" | "sequential">): boolean {
  return served >= sequential * ENOUGH;
}

/**
 * A burst of short requests on a fresh key, several times what the limit pays for. How many of them are served depends on the
 * tally's lag, but all of them must count in the end.
 */
export async function burst(t: Session, state: UsedUpState, drives: readonly Drive[]): Promise<Burst | null> {
  const model = drives.find(({ kind, denial, served }) => kind.long !== true && denial !== null && served > 0);
  if (model === undefined) return null;
  const { kind, served: sequential } = model;
  const atOnce = sequential * TIMES_OVER + 4;
  const key = atOnce > mostAtOnce(t) ? undefined : await t.fixtures.freshKey(`key.${state}`);
  if (key === undefined) return null;
  const request: RequestSpec = { key, endpoint: kind.endpoint, mode: kind.mode, intent: "any", repeats: false };
  const responses = await Promise.all(Array.from({ length: atOnce }, () => t.start(request).done));
  const served = responses.filter(({ admitted }) => admitted).length;
  const denial = responses.find(isSpendingDenial);
  if (denial !== undefined || !passedTheLimit({ served, sequential }))
    return { served, sequential, after: denial ?? null };
  return { served, sequential, after: (await pollUntilDenied(t, request, LAG_S[state])).denial };
}
