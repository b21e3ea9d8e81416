import { type Interval, wilson } from "../../core/index.ts";
import { isLimitReason } from "../../dialects/index.ts";
import type { EventFigures } from "../../record/index.ts";
import type { EventCount, EventCounts } from "./event-tally.ts";
import { failureOf, sumOf } from "./outcome-for-client.ts";

/** Limits may be counted in fixed minutes, so only whole minutes can be compared. */
export const MINUTE_S = 60;

type LimitFigures = NonNullable<EventFigures["limit"]>;

const isDeniedByLimit = ({ outcome, retryAfter, what }: EventCount): boolean =>
  outcome === "denied" && (retryAfter !== "none" || isLimitReason(what));

/** The gateway may have admitted it, and its client cannot use the result. */
const isUnclear = (count: EventCount): boolean =>
  count.outcome === "invalid" || count.outcome === "unfinished" || failureOf(count) === "incomplete";

export interface LimitWindow {
  /** Whole seconds that were counted before the first event. */
  readonly countedBeforeS: number;
  /** Seconds in which requests are judged. */
  readonly windowS: number;
  /** Whole seconds until the load ended, or the next event began. */
  readonly untilS: number;
}

/**
 * How many requests were admitted from an event on, compared with the time before the first event in which the account was at its
 * limit: a bucket that is full at the start of the load has been emptied then.
 *
 * @param first counts of the first event. @param own counts of this event. @param next counts of the next one.
 */
export function limitFigures(
  [first, own, next]: readonly [EventCounts | undefined, EventCounts, EventCounts | undefined],
  { countedBeforeS, windowS: judgedS, untilS }: LimitWindow,
): LimitFigures {
  const before = (first?.seconds ?? []).filter(([second]) => second < 0 && second >= -countedBeforeS);
  const deniedIn = before.filter(([, { counts }]) => counts.some(isDeniedByLimit)).map(([second]) => second);
  const limitedS = deniedIn.length === 0 ? 0 : -Math.min(...deniedIn) - 1;
  const beforeS = wholeMinutes(limitedS);
  // Those in flight at the event had been admitted before it, however they ended.
  const inFlight = sumOf(first?.inFlight ?? [], ({ outcome }) => outcome !== "denied");
  const windowS = Math.min(Math.ceil(judgedS / MINUTE_S) * MINUTE_S, wholeMinutes(untilS));
  const inWindow = own.seconds.flatMap(([second, { counts }]) => (second >= 0 && second < windowS ? counts : []));
  const laterInFlight = windowS === untilS ? sumOf(next?.inFlight ?? []) : 0;
  return {
    deniedBefore: before.reduce((sum, [, { counts }]) => sum + sumOf(counts, isDeniedByLimit), 0),
    limitedS,
    beforeS,
    admittedBefore:
      beforeS === 0
        ? 0
        : inFlight + before.reduce((sum, [at, { counts }]) => (at >= -beforeS ? sum + served(counts) : sum), 0),
    windowS,
    sent: sumOf(inWindow) + laterInFlight,
    admitted: served(inWindow),
    unclear: sumOf(inWindow, isUnclear) + laterInFlight,
  };
}

const served = (counts: readonly EventCount[]): number => sumOf(counts, ({ outcome }) => outcome === "admitted");

const wholeMinutes = (seconds: number): number => Math.floor(seconds / MINUTE_S) * MINUTE_S;

/**
 * The 95 % interval of a rate divided by the rate before. It assumes that counts vary at random; a limiter varies less, so it is never too narrow.
 */
export function rateRatio(
  { admittedBefore, beforeS, windowS }: Pick<LimitFigures, "admittedBefore" | "beforeS" | "windowS">,
  count: number,
): Interval & { readonly value: number } {
  const perShare = (share: number) =>
    share === 1 ? Number.POSITIVE_INFINITY : (share / (1 - share)) * (beforeS / windowS);
  const of = count + admittedBefore;
  const { low, high } = wilson({ count, of }, 0.95);
  return { value: perShare(count / of), low: perShare(low), high: perShare(high) };
}
