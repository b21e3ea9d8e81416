import { type Assumed, nothingKnown, type RateInference } from "./rate-inference.ts";

/** An assumption is accepted if the other one leaves this many more requests unexplained. */
const DECISIVE = 5;
/** Requests may be counted in part, which neither assumption explains: the accepted one leaves at most this share unexplained. */
const ACCEPTED_SHARE = 0.001;
/** Rates that differ by less are the same. */
const SAME_RATE = 0.03;

/**
 * Takes the assumption that fits the requests, or either one if both give the same result. Otherwise, the measured value may be
 * the limit minus what failed requests used up, which is not a limit.
 *
 * @param free requests that failed or were denied for another reason do not use up the limit.
 * @param counted they do, like admitted ones.
 */
export function reconcile({ free, counted }: { readonly free: Assumed; readonly counted: Assumed }): RateInference {
  const [better, worse] = counted.misses < free.misses ? [counted, free] : [free, counted];
  if (better.rate.perMinute.value === null || isSame(free.rate, counted.rate)) return better.rate;
  const isDecided =
    better.rate.kind.value !== null &&
    worse.misses >= better.misses + DECISIVE &&
    better.misses <= better.requests * ACCEPTED_SHARE;
  if (isDecided) return better.rate;
  const { scopes, fits } = better.rate;
  return { ...nothingKnown(whyUnknown(free, counted)), scopes, fits };
}

function whyUnknown(free: Assumed, counted: Assumed): string {
  const describe = ({ rate: { perMinute } }: Assumed) =>
    perMinute.value === null
      ? "no limiter model explains the other requests"
      : `the rate is ${perMinute.value} per minute`;
  return (
    `${free.others} of ${free.requests} requests failed or were denied for something else, and may have used up part of the limit: ` +
    `if they did, ${describe(counted)}; if not, ${describe(free)}. Run again when these requests no longer fail.`
  );
}

function isSame(a: RateInference, b: RateInference): boolean {
  const [one, other] = [a.perMinute.value, b.perMinute.value];
  if (one === null || other === null || a.kind.value !== b.kind.value) return false;
  return Math.abs(one - other) <= Math.max(one, other) * SAME_RATE;
}
