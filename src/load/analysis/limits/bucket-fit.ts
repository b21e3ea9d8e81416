import { agree, nearlyAsGood } from "./agree.ts";
import type { Attempt, Fit, FitOptions } from "./trial.ts";

/** Step of the search for the refill rate where nothing is known, as a factor. */
const COARSE = 1.03;
/** Step around rates that the attempts themselves suggest: an even pace fits within a few thousandths only. */
const FINE = 1.0005;
const FINE_REACH = 1.03;
/** Returns further apart than so many usual ones belong to different stretches of overload. */
const SAME_STRETCH = 5;

interface At {
  readonly perUs: number;
  readonly misses: number;
  readonly size: number;
}

/**
 * A limiter that refills evenly and lets through what it has saved: a token bucket, or with hardly any savings one that
 * demands an even pace. For a given refill the fill of the bucket follows from the attempts, whatever its size; the size
 * is then what admissions and denials agree upon.
 */
export function fitBucket(attempts: readonly Attempt[], options: FitOptions): Fit {
  const first = attempts[0]?.atUs ?? 0;
  const spanUs = Math.max(options.minuteUs / 60, (attempts.at(-1)?.atUs ?? 0) - first);
  const admitted = Math.max(1, attempts.filter((attempt) => attempt.admitted).length);
  // Everything came by refill, at most; at least a hundredth of it, or a minute would not show it.
  const most = (admitted / spanUs) * 1.5;
  const coarse = scan(attempts, options, most / 100, most, COARSE);
  const suggested = suggestedRates(attempts);
  const found = [coarse.at.perUs, ...suggested].reduce((best, perUs) => {
    const near = scan(attempts, options, perUs / FINE_REACH, perUs * FINE_REACH, FINE);
    return near.at.misses < best.at.misses ? near : best;
  }, coarse);
  // What came back over a long stretch is a count and bears a stall; it is taken where it explains nearly as much.
  const counted = suggested
    .map((perUs) => measure(attempts, options, perUs))
    .filter(({ misses }) => nearlyAsGood(misses, found.at.misses, attempts.length))
    .reduce<At | undefined>((best, at) => (best === undefined || at.misses < best.misses ? at : best), undefined);
  const within = counted !== undefined && counted.perUs >= found.low && counted.perUs <= found.high;
  const perUs = counted === undefined || within ? (found.low + found.high) / 2 : counted.perUs;
  const { size } = measure(attempts, options, perUs);
  const low = Math.min(found.low, perUs);
  const high = Math.max(found.high, perUs);
  return {
    kind: "bucket",
    misses: found.at.misses,
    perMinute: perUs * options.minuteUs,
    perMinuteRange: [low * options.minuteUs, high * options.minuteUs],
    burst: size,
    windowUs: undefined,
    edgeUs: undefined,
    edgeSlackUs: undefined,
  };
}

/** Under overload what comes back comes back at the refill rate: counted between the first and the last return. */
function suggestedRates(attempts: readonly Attempt[]): number[] {
  const returns = attempts.flatMap(({ admitted }, index) =>
    admitted && attempts[index - 1]?.admitted === false ? [index] : [],
  );
  const at = (index: number) => (attempts[index] as Attempt).atUs;
  const gaps = returns.slice(1).map((index, before) => at(index) - at(returns[before] as number));
  const usual = [...gaps].sort((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 0;
  const rates: number[] = [];
  let first = 0;
  for (let last = 1; last <= returns.length; last++) {
    if (last < returns.length && (gaps[last - 1] as number) <= usual * SAME_STRETCH) continue;
    const from = returns[first] as number;
    const to = returns[last - 1] as number;
    const between = attempts.slice(from, to).filter(({ admitted }) => admitted).length;
    if (last - first >= 5) rates.push(between / (at(to) - at(from)));
    first = last;
  }
  return rates;
}

interface Scanned {
  readonly at: At;
  /** Rates, per microsecond, that miss as little. */
  readonly low: number;
  readonly high: number;
}

function scan(attempts: readonly Attempt[], options: FitOptions, from: number, to: number, factor: number): Scanned {
  let best: Scanned | undefined;
  for (let perUs = from; perUs <= to; perUs *= factor) {
    const at = measure(attempts, options, perUs);
    if (best === undefined || at.misses < best.at.misses) best = { at, low: perUs, high: perUs };
    else if (at.misses === best.at.misses && perUs / best.high < factor * 1.0001) best = { ...best, high: perUs };
  }
  return best ?? { at: measure(attempts, options, from), low: from, high: from };
}

function measure(attempts: readonly Attempt[], options: FitOptions, perUs: number): At {
  if (!options.deniedCount) return fill(attempts, options, perUs, Number.POSITIVE_INFINITY);
  // Denied requests fill the bucket to the brim and no further, so its size comes first: from the first denial.
  const until = attempts.findIndex(({ admitted }) => !admitted);
  const before = fill(
    attempts.slice(0, until + 1),
    { ...options, deniedCount: false },
    perUs,
    Number.POSITIVE_INFINITY,
  );
  return fill(attempts, options, perUs, before.size);
}

/** Lets the attempts fill a bucket that leaks at this rate. */
function fill(attempts: readonly Attempt[], { slackUs, deniedCount }: FitOptions, perUs: number, brim: number): At {
  const atLeast: number[] = [];
  const atMost: number[] = [];
  const leak = perUs * slackUs;
  let filled = 0;
  let seenUs = attempts[0]?.atUs ?? 0;
  let near = 0;
  let ahead = 0;
  let nearCount = 0;
  let aheadCount = 0;
  for (const [index, { atUs, admitted }] of attempts.entries()) {
    filled = Math.max(0, filled - (atUs - seenUs) * perUs);
    seenUs = atUs;
    // Attempts within the slack of each other may have been decided in the other order.
    while (near < index && (attempts[near] as Attempt).atUs < atUs - slackUs) {
      if ((attempts[near] as Attempt).admitted) nearCount--;
      near++;
    }
    if (ahead <= index) {
      ahead = index + 1;
      aheadCount = 0;
    } else if (admitted) aheadCount--;
    while (ahead < attempts.length && (attempts[ahead] as Attempt).atUs <= atUs + slackUs) {
      if ((attempts[ahead] as Attempt).admitted) aheadCount++;
      ahead++;
    }
    if (admitted) {
      atLeast.push(filled + 1 - leak - nearCount);
      filled += 1;
      nearCount++;
    } else {
      atMost.push(filled + 1 + leak + aheadCount);
      if (deniedCount) filled = Math.min(brim, filled + 1);
    }
  }
  if (atMost.length === 0) return { perUs, misses: 0, size: Math.max(1, ...atLeast) };
  const { misses, low, high } = agree({ atLeast, atMost });
  return { perUs, misses, size: Math.max(1, (low + high) / 2) };
}
