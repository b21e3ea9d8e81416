import { isTrue, type Verdict } from "../../judging/index.ts";
import type { MustRequirement } from "../../requirements/index.ts";
import { type Attempt, type ClientRun, callsOf, gapMs, seconds } from "../observation.ts";

/** Gaps between attempts below this count as no wait, milliseconds: a client needs about ten to send again. */
const AT_ONCE_MS = 50;
/** Minimum number of calls with a retry for judging growth and jitter. */
const MIN_CALLS = 5;
/**
 * Minimum ratio of the last wait to the first: exponential backoff doubles, and 25 % jitter removes at most a quarter of that.
 */
const GROWTH = 1.5;
/** Spread of a wait across calls: up to this, timers and a busy machine explain it. */
const STILL = { ms: 20, share: 0.04 };
/** From this on, the client itself must have added it. */
const SPREAD = { ms: 50, share: 0.1 };
/** What a slow machine may add to a wait, as a multiple of the lag we measured: the lag hits the client twice, and harder. */
const TIMES_LAG = 3;
/** Waits of at least this share of the longest one show jitter: jitter grows with the wait, machine noise does not. */
const LONG_ENOUGH = 0.6;

interface Sequence {
  readonly call: readonly Attempt[];
  readonly gaps: readonly number[];
}

/** Attempts must not loop without a wait between them. */
export function judgeNoLoop(requirement: MustRequirement, runs: readonly ClientRun[], verdict: Verdict): void {
  const sequences = sequencesOf(runs);
  const retried = sequences.filter(({ gaps }) => gaps.length >= 2);
  if (retried.length === 0) return;
  // The median gap: the first includes the start of a program, and a busy machine delays later ones.
  const loop = retried.find(({ gaps }) => middleOf([...gaps].sort((a, b) => a - b)) < AT_ONCE_MS);
  verdict.must(
    requirement,
    loop === undefined,
    isTrue(
      "a wait between attempts",
      loop === undefined
        ? described(sequences)
        : `${loop.call.length} attempts with ${loop.gaps.map(seconds).join(", ")} between them`,
    ),
    { in: loop?.call[1] },
  );
}

/** Waits grow from attempt to attempt. Reported only if all calls agree: with wide jitter, single waits may shrink. */
export function judgeGrowth(requirement: MustRequirement, runs: readonly ClientRun[], verdict: Verdict): void {
  const sequences = sequencesOf(runs);
  const long = sequences.filter(({ gaps }) => gaps.length >= 2);
  if (long.length < MIN_CALLS) {
    verdict.note(requirement, `${described(sequences)}: too few waits to see them grow`);
    return;
  }
  const factors = growthOf(long, 0);
  const lagMs = longestLagMs(runs);
  const shown = described(sequences);
  // The delay that a slow machine adds to every wait hides their growth.
  if ((growthOf(long, TIMES_LAG * lagMs).at(-1) ?? 0) < GROWTH) {
    verdict.must(requirement, false, isTrue("waits that grow from attempt to attempt", shown), {
      in: long[0]?.call.at(-1),
    });
  } else if ((factors[0] ?? 0) >= 1 && middleOf(factors) >= GROWTH) {
    verdict.must(requirement, true, isTrue("waits that grow from attempt to attempt", shown));
  } else if (lagMs < STILL.ms) {
    verdict.note(requirement, `${shown}: too uneven to say whether they grow`);
  } else verdict.markUndecided("inconclusive", `${shown}, ${lateText(lagMs)}`);
}

/**
 * The last wait of each call divided by its first, both without the added delay; ascending. If the delay may account for all of
 * the first wait, the growth is unbounded.
 */
function growthOf(sequences: readonly Sequence[], addedMs: number): number[] {
  return sequences
    .map(({ gaps }) => {
      const [first, last] = [gaps[0], gaps.at(-1)].map((ms = 0) => Math.max(1, ms)) as [number, number];
      return first > addedMs ? (last - addedMs) / (first - addedMs) : Number.POSITIVE_INFINITY;
    })
    .sort((a, b) => a - b);
}

const longestLagMs = (runs: readonly ClientRun[]): number => Math.max(...runs.map((run) => run.lagMs));

const lateText = (lagMs: number): string => `on a machine with timer delays of ${Math.round(lagMs)} ms: try again`;

/** Calls that were denied together must not retry together. */
export function judgeJitter(requirement: MustRequirement, runs: readonly ClientRun[], verdict: Verdict): void {
  const sequences = sequencesOf(runs);
  const longest = Math.max(0, ...sequences.map(({ gaps }) => gaps.length));
  const waits = Array.from({ length: longest }, (_, index) =>
    sequences.flatMap(({ gaps }) => gaps[index] ?? []).sort((a, b) => a - b),
  ).filter((gaps) => gaps.length >= MIN_CALLS);
  if (waits.length === 0) {
    verdict.note(requirement, `${described(sequences)}: too few waits to see jitter`);
    return;
  }
  const least = LONG_ENOUGH * Math.max(...waits.map(middleOf));
  const long = waits.filter((gaps) => middleOf(gaps) >= least);
  const widerThan =
    ({ ms, share }: typeof STILL) =>
    (gaps: readonly number[]) =>
      spreadOf(gaps) > Math.max(ms, share * middleOf(gaps));
  const lagMs = longestLagMs(runs);
  const shown = described(sequences);
  const expected = "waits that differ from call to call, so that clients do not retry together";
  if (!long.some(widerThan(STILL))) {
    verdict.must(requirement, false, isTrue(expected, shown), { in: sequences[0]?.call[1] });
  } else if (long.some(widerThan({ ...SPREAD, ms: Math.max(SPREAD.ms, TIMES_LAG * lagMs) }))) {
    verdict.must(requirement, true, isTrue(expected, shown));
  } else if (lagMs < STILL.ms) {
    verdict.note(requirement, `${shown}: hardly any jitter`);
  } else {
    verdict.markUndecided("inconclusive", `${shown}, ${lateText(lagMs)}`);
  }
}

/** Ignores the longest wait, which may be long for reasons outside the client. */
function spreadOf(sorted: readonly number[]): number {
  return (sorted.at(-2) ?? 0) - (sorted[0] ?? 0);
}

function sequencesOf(runs: readonly ClientRun[]): Sequence[] {
  return runs.flatMap(callsOf).flatMap((call) => {
    const gaps = call.slice(1).map((next, index) => gapMs(call[index] ?? next, next));
    return gaps.length === 0 ? [] : [{ call, gaps }];
  });
}

function described(sequences: readonly Sequence[]): string {
  const longest = Math.max(0, ...sequences.map(({ gaps }) => gaps.length));
  if (longest === 0) return "no retries";
  const parts = Array.from({ length: longest }, (_, index) => {
    const gaps = sequences.flatMap((sequence) => sequence.gaps[index] ?? []);
    const [least, most] = [Math.min(...gaps), Math.max(...gaps)];
    return gaps.length === 1 ? seconds(least) : `${(least / 1_000).toFixed(2)} to ${seconds(most)}`;
  });
  return `waits of ${parts.join(", then ")} in ${sequences.length} call${sequences.length === 1 ? "" : "s"}`;
}

/** @param sorted ascending, not empty. */
function middleOf(sorted: readonly number[]): number {
  const upper = sorted[sorted.length >> 1] ?? 0;
  const lower = sorted[(sorted.length - 1) >> 1] ?? 0;
  return (upper + lower) / 2;
}
