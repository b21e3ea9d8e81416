import { median, type Sliced } from "../../core/index.ts";
import { agree, nearlyAsGood } from "./agree.ts";
import { type Fit, type FitOptions, isCounted, returnsOf, type TimedDecision } from "./decision.ts";

/** Step of the search for the refill rate without prior knowledge, as a factor. */
const COARSE = 1.03;
/** Step around rates that the attempts suggest: even spacing fits only within a few thousandths. */
const FINE = 1.0005;
const FINE_REACH = 1.03;
/** Returns that are further apart than this many usual ones belong to different stretches of overload. */
const SAME_STRETCH = 5;

/** Attempts after the first denial that still show only the size, and sizes that are tried between its bounds. */
const OPENING = 10;
const SIZES = 6;
const EPSILON = 1e-6;

interface At {
  readonly perUs: number;
  readonly misses: number;
  readonly size: number;
  /** The largest size that fits equally well. */
  readonly max: number;
}

/**
 * A limiter that refills evenly and admits up to what it has saved: a token bucket, or, with almost no savings, a limiter that
 * requires even spacing. For a given refill, the fill level follows from the attempts, whatever the size of the bucket; the size
 * is then the value that fits both admissions and denials.
 */
export function* fitBucket(attempts: readonly TimedDecision[], options: FitOptions): Sliced<Fit> {
  const first = attempts[0]?.atUs ?? 0;
  const spanUs = Math.max(options.minuteUs / 60, (attempts.at(-1)?.atUs ?? 0) - first);
  const admitted = Math.max(1, attempts.filter((attempt) => isAdmittedOrOther(attempt, options)).length);
  // At most, everything was admitted from the refill; at least a hundredth of that, or a minute would not show it.
  const max = (admitted / spanUs) * 1.5;
  const coarse = yield* scan(attempts, options, max / 100, max, COARSE);
  const suggested = suggestedRates(attempts, options);
  let found = coarse;
  for (const perUs of [coarse.at.perUs, ...suggested]) {
    const near = yield* scan(attempts, options, perUs / FINE_REACH, perUs * FINE_REACH, FINE);
    if (near.at.misses < found.at.misses) found = near;
  }
  // What returned over a long stretch is a count and robust against a stall; it is used if it fits almost as well.
  const counted = suggested
    .map((perUs) => measure(attempts, options, perUs))
    .filter(({ misses }) => nearlyAsGood(misses, found.at.misses, attempts.length * 2))
    .reduce<At | undefined>((best, at) => (best === undefined || at.misses < best.misses ? at : best), undefined);
  const within = counted !== undefined && counted.perUs >= found.low && counted.perUs <= found.high;
  const perUs = counted === undefined || within ? (found.low + found.high) / 2 : counted.perUs;
  const { size, max: largest } = measure(attempts, options, perUs);
  const low = Math.min(found.low, perUs);
  const high = Math.max(found.high, perUs);
  return {
    kind: "bucket",
    misses: found.at.misses,
    perMinute: perUs * options.minuteUs,
    perMinuteRange: [low * options.minuteUs, high * options.minuteUs],
    burst: size,
    mostBurst: largest + perUs * options.slackUs,
    windowUs: undefined,
    edgeUs: undefined,
    edgeSlackUs: undefined,
  };
}

/** Under overload, capacity returns at the refill rate: counted between the first and the last return. */
function suggestedRates(attempts: readonly TimedDecision[], options: FitOptions): number[] {
  const returns = returnsOf(attempts).map(({ admission }) => admission);
  const leastSpanUs = options.minuteUs / 60;
  const at = (index: number) => (attempts[index] as TimedDecision).atUs;
  const gaps = returns.slice(1).map((index, before) => at(index) - at(returns[before] as number));
  const usual = median(gaps);
  const rates: number[] = [];
  let first = 0;
  for (let last = 1; last <= returns.length; last++) {
    if (last < returns.length && (gaps[last - 1] as number) <= usual * SAME_STRETCH) continue;
    const from = returns[first] as number;
    const to = returns[last - 1] as number;
    const between = attempts.slice(from, to).filter((attempt) => isAdmittedOrOther(attempt, options)).length;
    if (last - first >= 5 && at(to) - at(from) >= leastSpanUs) rates.push(between / (at(to) - at(from)));
    first = last;
  }
  return rates;
}

/** Denied requests are ignored: they may use up the limit, but never show how much of it was refilled. */
const isAdmittedOrOther = (attempt: TimedDecision, options: FitOptions): boolean =>
  attempt.verdict !== "denied" && isCounted(attempt, options);

interface Scanned {
  readonly at: At;
  /** Rates, per microsecond, with equally few misses. */
  readonly low: number;
  readonly high: number;
}

function* scan(
  attempts: readonly TimedDecision[],
  options: FitOptions,
  from: number,
  to: number,
  factor: number,
): Sliced<Scanned> {
  let best: Scanned | undefined;
  for (let perUs = from; perUs <= to; perUs *= factor) {
    yield;
    const at = measure(attempts, options, perUs);
    if (best === undefined || at.misses < best.at.misses) best = { at, low: perUs, high: perUs };
    else if (at.misses === best.at.misses && perUs / best.high < factor * 1.0001) best = { ...best, high: perUs };
  }
  return best ?? { at: measure(attempts, options, from), low: from, high: from };
}

function measure(attempts: readonly TimedDecision[], options: FitOptions, perUs: number): At {
  // The first denial and a few attempts after it follow a rest: no error can have accumulated yet.
  const until = attempts.findIndex(({ verdict }) => verdict === "denied");
  const start = fill(attempts.slice(0, until + OPENING), options, perUs);
  const all = fill(attempts, options, perUs);
  const span = start.max - start.min;
  const sizes = Array.from({ length: SIZES + 1 }, (_, step) => start.min + (span * step) / SIZES);
  let best: At = { perUs, misses: Number.POSITIVE_INFINITY, size: all.size, max: all.size };
  for (const size of [...sizes, all.size]) {
    const misses = replay(attempts, options, perUs, size);
    if (misses < best.misses) best = { perUs, misses, size, max: size };
    else if (misses === best.misses && size > best.max) best = { perUs, misses, size: best.size, max: size };
  }
  return best;
}

/**
 * Replays the attempts against a bucket of this size. On a contradiction, the bucket is corrected to what was seen: otherwise,
 * one response delayed by a stall would make all later ones wrong.
 *
 * @returns number of contradictions.
 */
function replay(attempts: readonly TimedDecision[], options: FitOptions, perUs: number, size: number): number {
  const { slackUs, deniedCount, othersCount } = options;
  let filled = 0;
  let seenUs = attempts[0]?.atUs ?? 0;
  let misses = 0;
  for (const { atUs, slackUs: ownUs, verdict } of attempts) {
    const leak = perUs * Math.max(slackUs, ownUs);
    const drained = filled - (atUs - seenUs) * perUs;
    filled = Math.max(0, drained);
    seenUs = atUs;
    if (verdict === "other") {
      if (othersCount) filled = Math.min(size, filled + 1);
    } else if (verdict === "admitted") {
      if (filled + 1 - leak > size + EPSILON) misses++;
      filled = Math.min(filled, Math.max(0, size - 1)) + 1;
    } else {
      // A bucket that had been empty for longer than the slack admits one, whatever its size.
      if (Math.max(0, drained + leak) + 1 <= size + EPSILON) misses++;
      filled = Math.max(filled, size - 1);
      if (deniedCount) filled = Math.min(size, filled + 1);
    }
  }
  return misses;
}

interface Sizes {
  readonly size: number;
  readonly min: number;
  readonly max: number;
}

/** Replays the attempts against a bucket that leaks at this rate: the sizes that fit both admissions and denials. */
function fill(attempts: readonly TimedDecision[], options: FitOptions, perUs: number): Sizes {
  const { slackUs } = options;
  const atLeast: number[] = [];
  const atMost: number[] = [];
  const leak = perUs * slackUs;
  let filled = 0;
  let seenUs = attempts[0]?.atUs ?? 0;
  let near = 0;
  let ahead = 0;
  let nearCount = 0;
  let aheadCount = 0;
  for (const [index, attempt] of attempts.entries()) {
    const { atUs, verdict } = attempt;
    const takes = isAdmittedOrOther(attempt, options);
    const drained = filled - (atUs - seenUs) * perUs;
    filled = Math.max(0, drained);
    seenUs = atUs;
    // Attempts within the slack of each other may have been decided in the opposite order.
    while (near < index && (attempts[near] as TimedDecision).atUs < atUs - slackUs) {
      if (isAdmittedOrOther(attempts[near] as TimedDecision, options)) nearCount--;
      near++;
    }
    if (ahead <= index) {
      ahead = index + 1;
      aheadCount = 0;
    } else if (takes) aheadCount--;
    while (ahead < attempts.length && (attempts[ahead] as TimedDecision).atUs <= atUs + slackUs) {
      if (isAdmittedOrOther(attempts[ahead] as TimedDecision, options)) aheadCount++;
      ahead++;
    }
    if (verdict === "admitted") atLeast.push(filled + 1 - leak - nearCount);
    if (verdict === "denied") atMost.push(Math.max(0, drained + leak) + 1 + aheadCount);
    if (takes) {
      filled += 1;
      nearCount++;
    }
  }
  if (atMost.length === 0) {
    const size = Math.max(1, ...atLeast);
    return { size, min: size, max: size };
  }
  const { low, high } = agree({ atLeast, atMost });
  return { size: Math.max(1, (low + high) / 2), min: Math.max(1, low), max: Math.max(1, high) };
}
