import { median, rankCorrelation } from "../../../core/index.ts";
import { DIALECTS } from "../../../dialects/index.ts";
import { finding, type Observation } from "../../../judging/index.ts";
import type { Finding } from "../../../record/index.ts";
import { ratioOf } from "../../measure/phase-record.ts";
import { exchangesOf, isLong, serviceMs } from "../observations.ts";
import { EarlierLatency } from "./earlier-latency.ts";
import { lagMs, type StallRecord } from "./own-stalls.ts";

/** Growth beyond all of these is more than noise: rank correlation, share and ms. */
const GROWTH = { correlation: 0.7, share: 0.2, ms: 15, minRequests: 16 };

/** Finds latency that grows with the number of requests, for each kind. The phase must send evenly. */
export function judgeGrowth(observations: readonly Observation[]): Finding[] {
  const growing: string[] = [];
  for (const dialect of ["chat", "messages"] as const) {
    for (const stream of [false, true]) {
      const own = observations.filter(
        (one) => one.dialect === dialect && one.stream === stream && one.outcome === "admitted",
      );
      if (own.length < GROWTH.minRequests) continue;
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
    finding({
      name: "latency.grows",
      title: "Latency does not grow with the requests served",
      requirements: ["STEADY-LATENCY"],
      met: growing.length === 0,
      expected: "no growth at an even rate",
      observed: growing.join(", ") || "none",
      basis: "timing",
      weight: "warn",
    }),
  ];
}

/** A request whose latency was judged. */
interface RequestLatency {
  readonly one: Observation;
  /** Usual latency of its kind, ms. */
  readonly usualMs: number;
  /** Its latency without the delay of this process, ms. */
  readonly ms: number;
}

/** Short requests in the order of sending, except those of a kind without a known usual latency. */
function latenciesOf(
  observations: readonly Observation[],
  earlier: EarlierLatency,
  heldUp: StallRecord,
): RequestLatency[] {
  return observations
    .filter((one) => !isLong(one))
    .flatMap((one) => {
      const usualMs = earlier.usualMs(one);
      const ms = serviceMs(one);
      return usualMs === undefined ? [] : [{ one, usualMs, ms: ms > SLOW_MS ? ms - lagMs(one, heldUp) : ms }];
    })
    .sort((a, b) => a.one.sentUs - b.one.sentUs);
}

/** A request is slow if it takes longer than this, ms, and longer than this multiple of the usual latency. */
const SLOW_MS = 1_000;
const SLOW_FACTOR = 10;
/**
 * A slowdown lasts at least this long, s, and has at least this number of slow requests, which are at least this share of those sent
 * meanwhile. A process that is stopped for a few seconds or collects garbage recovers sooner, from the first waiting request to the last
 * released one.
 */
const MIN_SLOWED_S = 10;
const MIN_SLOW_REQUESTS = 4;
const MIN_SLOW_SHARE = 0.75;

const isSlow = ({ ms, usualMs }: RequestLatency): boolean => ms > Math.max(SLOW_MS, usualMs * SLOW_FACTOR);

export interface LatencyJudged {
  /** All requests that the run has sent so far. */
  readonly all: readonly Observation[];
  readonly heldUp: StallRecord;
  /** Start of the run, µs. */
  readonly originUs: number;
}

/** Finds a gateway that becomes slow and stays slow for a while, for all kinds of requests or for one. */
export function judgeSlowdown(
  observations: readonly Observation[],
  { all, heldUp, originUs }: LatencyJudged,
): Finding[] {
  const measured = latenciesOf(observations, new EarlierLatency(all), heldUp);
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
    finding({
      name: "latency.slowed",
      title: "Latency stays as it was in earlier phases",
      requirements: ["STEADY-LATENCY"],
      met: slow.length === 0,
      expected: `no ${MIN_SLOWED_S} s in which nearly every request takes over ${SLOW_MS} ms and ${SLOW_FACTOR} times as long as its kind did before`,
      observed:
        slow.length === 0
          ? `${measured.length} requests, the slowest ${milliseconds(Math.max(...measured.map(({ ms }) => ms)))}`
          : `${worst.name}: p50 ${milliseconds(median(slow.map(({ usualMs }) => usualMs)))} before, ${milliseconds(median(slow.map(({ ms }) => ms)))} from second ${atS(firstSentUs(slow))} to ${atS(lastEndUs(slow))} of the run, ${slow.length} of ${observations.length} requests (${Math.round((slow.length / observations.length) * 100)} %)`,
      basis: "timing",
      weight: "warn",
      exchanges: exchangesOf(slow.map(({ one }) => one)),
      magnitude: ratioOf(slow.length, observations.length),
    }),
  ];
}

/** The longest series of consecutive requests that are nearly all slow; empty if none lasts long enough. */
function longestRun(own: readonly RequestLatency[]): readonly RequestLatency[] {
  let longest: readonly RequestLatency[] = [];
  for (let from = 0; from < own.length; from++) {
    if (!isSlow(own[from] as RequestLatency)) continue;
    const to = endOfRun(own, from);
    const run = own.slice(from, to + 1).filter(isSlow);
    const lasts = run.length >= MIN_SLOW_REQUESTS && lastEndUs(run) - firstSentUs(run) >= MIN_SLOWED_S * 1_000_000;
    if (lasts && run.length > longest.length) longest = run;
    from = to;
  }
  return longest;
}

/** Index of the last slow request of the series that begins at `from` and has few others. */
function endOfRun(own: readonly RequestLatency[], from: number): number {
  let [last, slow] = [from, 0];
  for (let at = from; at < own.length; at++) {
    if (isSlow(own[at] as RequestLatency)) {
      slow++;
      last = at;
    } else if (slow < (at - from + 1) * MIN_SLOW_SHARE) break;
  }
  return last;
}

const firstSentUs = (run: readonly RequestLatency[]): number => run[0]?.one.sentUs ?? 0;
const lastEndUs = (run: readonly RequestLatency[]): number =>
  run.reduce((last, { one }) => Math.max(last, one.endUs), 0);

/** `0.8 ms`, `3,004 ms`. */
function milliseconds(ms: number): string {
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms).toLocaleString("en-US")} ms`;
}

/**
 * An outlier takes longer than this, ms, and longer than this multiple of the usual latency. A finding needs at least this number and this
 * share.
 */
const OUTLIER_MS = 1_000;
const OUTLIER_FACTOR = 20;
const MIN_OUTLIERS = 3;
const MIN_OUTLIER_SHARE = 0.003;
/**
 * Outliers that are in flight together, or follow each other within `MAX_DISTANCE_US`, have one cause, such as a pause. They count as one
 * moment, which lasts at most `MAX_MOMENT_US`.
 */
const MAX_DISTANCE_US = 1_000_000;
const MAX_MOMENT_US = 6_000_000;

/**
 * Finds requests that are far slower than their kind was before, at several moments. It is a warning, because at some gateways the
 * providers cause such a tail.
 */
export function judgeOutliers(
  observations: readonly Observation[],
  { all, heldUp }: Pick<LatencyJudged, "all" | "heldUp">,
): Finding[] {
  const short = observations.filter((one) => !isLong(one));
  const measured = latenciesOf(short, new EarlierLatency(all), heldUp);
  const slow = measured.filter(({ ms, usualMs }) => ms > Math.max(OUTLIER_MS, usualMs * OUTLIER_FACTOR));
  const most = Math.max(MIN_OUTLIERS - 1, Math.floor(short.length * MIN_OUTLIER_SHARE));
  const moments = momentsOf(slow.map(({ one }) => one));
  const slowest = Math.max(0, ...measured.map(({ ms }) => ms));
  return [
    finding({
      name: "latency.outliers",
      title: "No request takes far longer than its kind did before",
      requirements: ["STEADY-LATENCY"],
      met: slow.length <= most || moments < MIN_OUTLIERS,
      expected: `at most ${most} outliers, or outliers at fewer than ${MIN_OUTLIERS} moments`,
      observed: `${slow.length} of ${short.length} requests, at ${moments} moments, took over ${OUTLIER_MS} ms and ${OUTLIER_FACTOR} times as long as their kind did before; the slowest took ${milliseconds(slowest)}`,
      basis: "timing",
      weight: "warn",
      exchanges: exchangesOf(slow.map(({ one }) => one)),
      magnitude: ratioOf(slow.length, short.length),
    }),
  ];
}

/** Counts the separate moments at which requests were slow. @param slow in the order of sending. */
function momentsOf(slow: readonly Observation[]): number {
  let moments = 0;
  let [fromUs, untilUs] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { sentUs, endUs } of slow) {
    if (sentUs > untilUs + MAX_DISTANCE_US || sentUs > fromUs + MAX_MOMENT_US) {
      moments++;
      fromUs = sentUs;
    }
    untilUs = Math.max(untilUs, endUs);
  }
  return moments;
}
