import { median, rankCorrelation } from "../../core/index.ts";
import { DIALECTS } from "../../dialects/index.ts";
import type { Observation } from "../../judging/index.ts";
import type { Finding } from "../../record/index.ts";
import { compared, shareOf } from "../phase-record.ts";
import { EarlierLatency } from "./earlier-latency.ts";
import { exchangesOf, isLong, serviceMs } from "./observations.ts";
import { type HeldUp, lagMs } from "./own-stalls.ts";

/** What growth must come to before it is more than noise: rank correlation, share and ms. */
const GROWTH = { correlation: 0.7, share: 0.2, ms: 15, least: 16 };

/** Latency that grows with the number of requests, kind by kind; the phase must send evenly. */
export function judgeGrowth(observations: readonly Observation[]): Finding[] {
  const growing: string[] = [];
  for (const dialect of ["chat", "messages"] as const) {
    for (const stream of [false, true]) {
      const own = observations.filter(
        (one) => one.dialect === dialect && one.stream === stream && one.outcome === "admitted",
      );
      if (own.length < GROWTH.least) continue;
      const ordered = [...own].sort((a, b) => a.sentUs - b.sentUs).map(({ endUs, sentUs }) => (endUs - sentUs) / 1_000);
      const quarter = Math.floor(ordered.length / 4);
      const first = median(ordered.slice(0, quarter));
      const last = median(ordered.slice(-quarter));
      const grown = last - first;
      if (grown > GROWTH.ms && grown > first * GROWTH.share && rankCorrelation(ordered) > GROWTH.correlation)
        growing.push(`${dialect} ${stream ? "streams" : "replies"} from ${first.toFixed(0)} to ${last.toFixed(0)} ms`);
    }
  }
  return [
    compared(
      "latency.grows",
      "Latency does not grow with the requests served",
      ["STEADY-LATENCY"],
      growing.length === 0,
      "no growth at an even rate",
      growing.join(", ") || "none",
      { weight: "warn" },
    ),
  ];
}

/** A request whose latency was judged. */
interface Timed {
  readonly one: Observation;
  /** What requests of its kind took before, ms. */
  readonly usualMs: number;
  /** What it took, without what of it was ours, ms. */
  readonly ms: number;
}

/** Short requests that were answered, by the moment of their sending; those of a kind that was never seen before are left out. */
function timed(observations: readonly Observation[], earlier: EarlierLatency, heldUp: HeldUp): Timed[] {
  return observations
    .filter((one) => !isLong(one))
    .flatMap((one) => {
      const usualMs = earlier.usualMs(one);
      const ms = serviceMs(one);
      return usualMs === undefined ? [] : [{ one, usualMs, ms: ms > SLOW_MS ? ms - lagMs(one, heldUp) : ms }];
    })
    .sort((a, b) => a.one.sentUs - b.one.sentUs);
}

/** What is slow: so long, ms, and so many times as long as its kind took before. */
const SLOW_MS = 1_000;
const SLOW_FACTOR = 10;
/**
 * For so long, s, at least so many requests, and such a share of those sent meanwhile, must be slow before the gateway is. A process
 * that is stopped for some seconds, collects garbage or has a slow moment is over it sooner: from the first request that waits to the
 * last that was let go.
 */
const SLOWED_S = 10;
const SLOWED_LEAST = 4;
const SLOWED_SHARE = 0.75;

const isSlow = ({ ms, usualMs }: Timed): boolean => ms > Math.max(SLOW_MS, usualMs * SLOW_FACTOR);

export interface LatencyJudged {
  /** Everything that the run sent so far. */
  readonly all: readonly Observation[];
  readonly heldUp: HeldUp;
  /** Beginning of the run, µs. */
  readonly originUs: number;
}

/** A gateway that became slow and stayed so for a while: whether all kinds of requests did, or one of them. */
export function judgeSlowdown(
  observations: readonly Observation[],
  { all, heldUp, originUs }: LatencyJudged,
): Finding[] {
  const measured = timed(observations, new EarlierLatency(all), heldUp);
  if (measured.length === 0) return [];
  const kinds = DIALECTS.flatMap((dialect) =>
    [false, true].map((stream) => ({
      name: `${dialect} ${stream ? "streams" : "replies"}`,
      own: measured.filter(({ one }) => one.dialect === dialect && one.stream === stream),
    })),
  );
  const worst = [{ name: "every kind", own: measured }, ...kinds]
    .map(({ name, own }) => ({ name, run: longestRun(own) }))
    .reduce((most, next) => (next.run.length > most.run.length ? next : most));
  const slow = worst.run;
  const atS = (us: number) => ((us - originUs) / 1_000_000).toFixed(0);
  return [
    compared(
      "latency.slowed",
      "Latency stays as it was in the phases before",
      ["STEADY-LATENCY"],
      slow.length === 0,
      `never ${SLOWED_S} s in which nearly every request takes over ${SLOW_MS} ms and ${SLOW_FACTOR} times what its kind took before`,
      slow.length === 0
        ? `${measured.length} requests, the slowest ${milliseconds(Math.max(...measured.map(({ ms }) => ms)))}`
        : `${worst.name}: p50 ${milliseconds(median(slow.map(({ usualMs }) => usualMs)))} before, ${milliseconds(median(slow.map(({ ms }) => ms)))} from second ${atS(firstSentUs(slow))} to ${atS(lastEndUs(slow))} of the run, ${slow.length} of ${observations.length} requests (${Math.round((slow.length / observations.length) * 100)} %)`,
      {
        weight: "warn",
        exchanges: exchangesOf(slow.map(({ one }) => one)),
        magnitude: shareOf(slow.length, observations.length),
      },
    ),
  ];
}

/** The longest series of requests, one sent after the other, nearly all of which were slow; empty where none lasts long enough. */
function longestRun(own: readonly Timed[]): readonly Timed[] {
  let longest: readonly Timed[] = [];
  for (let from = 0; from < own.length; from++) {
    if (!isSlow(own[from] as Timed)) continue;
    const to = endOfRun(own, from);
    const run = own.slice(from, to + 1).filter(isSlow);
    const lasts = run.length >= SLOWED_LEAST && lastEndUs(run) - firstSentUs(run) >= SLOWED_S * 1_000_000;
    if (lasts && run.length > longest.length) longest = run;
    from = to;
  }
  return longest;
}

/** Index of the last slow one of a series in which few are not. */
function endOfRun(own: readonly Timed[], from: number): number {
  let [last, slow] = [from, 0];
  for (let at = from; at < own.length; at++) {
    if (isSlow(own[at] as Timed)) {
      slow++;
      last = at;
    } else if (slow < (at - from + 1) * SLOWED_SHARE) break;
  }
  return last;
}

const firstSentUs = (run: readonly Timed[]): number => run[0]?.one.sentUs ?? 0;
const lastEndUs = (run: readonly Timed[]): number => run.reduce((last, { one }) => Math.max(last, one.endUs), 0);

/** `0.8 ms`, `3,004 ms`. */
function milliseconds(ms: number): string {
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms).toLocaleString("en-US")} ms`;
}

/** What stands out: so slow, ms and in multiples of what its kind took before; and so many of a phase, at least. */
const OUTLIER_MS = 1_000;
const OUTLIER_FACTOR = 20;
const OUTLIERS = 3;
const OUTLIER_SHARE = 0.003;
/** Outliers that are under way together, or follow within this, have one cause: something stood still. It is over after so long, µs. */
const APART_US = 1_000_000;
const MOMENT_US = 6_000_000;

/**
 * Requests far slower than those of their kind before, at several moments. A tail like that is its providers' at some gateways, so
 * it is a warning.
 */
export function judgeOutliers(
  observations: readonly Observation[],
  { all, heldUp }: Pick<LatencyJudged, "all" | "heldUp">,
): Finding[] {
  const short = observations.filter((one) => !isLong(one));
  const measured = timed(short, new EarlierLatency(all), heldUp);
  const slow = measured.filter(({ ms, usualMs }) => ms > Math.max(OUTLIER_MS, usualMs * OUTLIER_FACTOR));
  const most = Math.max(OUTLIERS - 1, Math.floor(short.length * OUTLIER_SHARE));
  const moments = momentsOf(slow.map(({ one }) => one));
  const slowest = Math.max(0, ...measured.map(({ ms }) => ms));
  return [
    compared(
      "latency.outliers",
      "No request takes far longer than others of its kind before",
      ["STEADY-LATENCY"],
      slow.length <= most || moments < OUTLIERS,
      `at most ${most}, or at fewer than ${OUTLIERS} moments`,
      `${slow.length} of ${short.length} at ${moments} moments took over ${OUTLIER_MS} ms and ${OUTLIER_FACTOR} times what their kind took before; the slowest of all took ${milliseconds(slowest)}`,
      {
        weight: "warn",
        exchanges: exchangesOf(slow.map(({ one }) => one)),
        magnitude: shareOf(slow.length, short.length),
      },
    ),
  ];
}

/** At how many moments something was slow. @param slow in the order of sending. */
function momentsOf(slow: readonly Observation[]): number {
  let moments = 0;
  let [fromUs, untilUs] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { sentUs, endUs } of slow) {
    if (sentUs > untilUs + APART_US || sentUs > fromUs + MOMENT_US) {
      moments++;
      fromUs = sentUs;
    }
    untilUs = Math.max(untilUs, endUs);
  }
  return moments;
}
