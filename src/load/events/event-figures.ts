import { median, quantile } from "../../core/index.ts";
import type { EventFigures } from "../../record/index.ts";
import { ERROR_IN_STREAM } from "../send/outcome.ts";
import type { EventCount, EventCounts, EventSecond } from "./event-tally.ts";
import { limitFigures } from "./limit-figures.ts";
import { failureOf, outcomeOf, sumOf } from "./outcome-for-client.ts";

/** Bounds of a window that the workload does not set, s. */
const MIN_WINDOW_S = 10;
const MAX_OPEN_WINDOW_S = 60;
/** Seconds before the first event that recovery is compared with. */
const MIN_BEFORE_S = 3;
const MAX_BEFORE_S = 60;
/** A quantile of the latency has recovered up to this multiple of its median before, plus this time. */
const SLOWER = 1.5;
const SLOWER_MS = 10;
/** Seconds in a row that must be like those before: one may be by chance. */
const STEADY_S = 3;
/** A closed loop sends at least this share of what it sent before. */
const CLOSED_SHARE = 0.8;
/** Standard deviations by which a share may differ by chance. */
const STANDARD_DEVIATIONS = 2;

/** Times of an event, s; `atS` is from the start of the measurement, the others from the event. */
export interface EventTimes {
  readonly atS: number;
  readonly windowS: number | undefined;
  /** When it was over, and its undoing, as far as known. */
  readonly endedS: number;
}

interface SecondFigures {
  readonly due: number;
  readonly served: number;
  readonly retryable: number;
  readonly failed: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

/** How a stream ended too early; `undefined`: it was complete, or did not begin. */
function truncationOf({ stream, outcome, what }: EventCount): "truncated" | "interrupted" | undefined {
  if (!stream || outcome !== "unfinished") return undefined;
  return what === ERROR_IN_STREAM ? "interrupted" : "truncated";
}

function secondFigures({ dropped, counts, timesUs }: EventSecond): SecondFigures {
  const of = (outcome: ReturnType<typeof outcomeOf>) => sumOf(counts, (count) => outcomeOf(count) === outcome);
  const sorted = timesUs.toSorted((a, b) => a - b);
  const ms = (share: number) => (sorted.length === 0 ? null : quantile(sorted, share) / 1_000);
  return {
    due: sumOf(counts) + dropped,
    served: of("served"),
    retryable: of("retryable"),
    failed: of("failed"),
    p50Ms: ms(0.5),
    p95Ms: ms(0.95),
  };
}

/** What the seconds before the first event were like. */
interface Level {
  readonly seconds: number;
  readonly due: number;
  readonly servedShare: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  /** Highest quantile that counts as the same. */
  readonly maxP50Ms: number;
  readonly maxP95Ms: number;
}

function levelBefore(first: EventCounts | undefined, atS: number): Level | undefined {
  // A second that began before the measurement is incomplete.
  const whole = Math.min(MAX_BEFORE_S, Math.floor(atS + 1e-6));
  const seconds = (first?.seconds ?? [])
    .filter(([second]) => second < 0 && second >= -whole)
    .map(([, counted]) => secondFigures(counted));
  if (seconds.length < MIN_BEFORE_S) return undefined;
  const due = seconds.reduce((sum, second) => sum + second.due, 0);
  const served = seconds.reduce((sum, second) => sum + second.served, 0);
  const known = (field: "p50Ms" | "p95Ms") => seconds.flatMap((second) => second[field] ?? []);
  const middle = (values: readonly number[]) => (values.length === 0 ? null : median(values));
  const most = (values: readonly number[]) => Math.max(SLOWER * (middle(values) ?? 0) + SLOWER_MS, ...values);
  const [p50s, p95s] = [known("p50Ms"), known("p95Ms")];
  return {
    seconds: seconds.length,
    due: due / seconds.length,
    servedShare: due === 0 ? 0 : served / due,
    p50Ms: middle(p50s),
    p95Ms: middle(p95s),
    maxP50Ms: most(p50s),
    maxP95Ms: most(p95s),
  };
}

const NOTHING_DUE: SecondFigures = { due: 0, served: 0, retryable: 0, failed: 0, p50Ms: null, p95Ms: null };

/** Whether at least as large a share of requests was served as before, within random variation. */
function isServedAsBefore({ due, served }: SecondFigures, { servedShare }: Level): boolean {
  const expected = due * (1 - servedShare);
  return due - served <= expected + STANDARD_DEVIATIONS * Math.sqrt(expected * servedShare) + 1e-9;
}

function isFastAsBefore({ due, p50Ms, p95Ms }: SecondFigures, level: Level, isClosed: boolean): boolean {
  const least = CLOSED_SHARE * level.due - STANDARD_DEVIATIONS * Math.sqrt(level.due);
  const isEnough = !isClosed || due >= Math.max(1, least);
  return isEnough && (p50Ms ?? 0) <= level.maxP50Ms && (p95Ms ?? 0) <= level.maxP95Ms;
}

/**
 * Seconds from the event to the recovery: after the last second in which fewer requests were served than before, at the
 * first of three seconds in a row with latencies like those before.
 */
function recoveredAfter(seconds: readonly SecondFigures[], level: Level, isClosed: boolean): number | null {
  const from = seconds.findLastIndex((second) => !isServedAsBefore(second, level)) + 1;
  for (let at = from; at + STEADY_S <= seconds.length; at++) {
    if (seconds.slice(at, at + STEADY_S).every((second) => isFastAsBefore(second, level, isClosed))) return at;
  }
  return null;
}

/**
 * What clients noticed of an event.
 *
 * @param all counts of all events of the load.
 * @param times their times, in the same order.
 * @param index which event.
 * @param isClosed whether the next request waits for a response.
 */
export function eventFigures(
  all: readonly EventCounts[],
  times: readonly EventTimes[],
  { index, isClosed }: { readonly index: number; readonly isClosed: boolean },
): EventFigures | null {
  const [counted, time, next] = [all[index], times[index], times[index + 1]];
  if (counted === undefined || time === undefined) return null;
  const bySecond = new Map(counted.seconds);
  // The last second is incomplete: the load ended in it, or the next event began.
  const last = Math.max(-1, ...bySecond.keys());
  const longestS = time.windowS ?? MAX_OPEN_WINDOW_S;
  const untilNextS = next === undefined ? Number.POSITIVE_INFINITY : Math.floor(next.atS - time.atS);
  const observedS = Math.max(0, Math.min(last, Math.ceil(Math.max(longestS, time.endedS)), untilNextS));
  const wholeSeconds = Array.from({ length: observedS }, (_, second) => {
    const found = bySecond.get(second);
    return found === undefined ? NOTHING_DUE : secondFigures(found);
  });
  const level = levelBefore(all[0], times[0]?.atS ?? 0);
  const recoveredS = level === undefined ? null : recoveredAfter(wholeSeconds, level, isClosed);
  const openS = Math.max(MIN_WINDOW_S, Math.ceil(time.endedS), recoveredS ?? MAX_OPEN_WINDOW_S);
  const windowS = Math.min(time.windowS ?? Math.min(MAX_OPEN_WINDOW_S, openS), last + 1);
  const inWindow = counted.seconds.flatMap(([second, { counts }]) => (second >= 0 && second < windowS ? counts : []));
  const requests = [...counted.inFlight, ...inWindow];
  const longestUs = counted.seconds.reduce(
    (longest, [second, one]) => (second >= 0 && second < windowS ? Math.max(longest, one.longestUs) : longest),
    0,
  );
  const streams = requests.filter(({ stream }) => stream);
  const inFlight = counted.inFlight.filter(({ stream }) => stream);
  const isTruncated = (how: ReturnType<typeof truncationOf>) => (count: EventCount) => truncationOf(count) === how;
  const isServed = (count: EventCount) => outcomeOf(count) === "served";
  return {
    windowS: Math.max(0, windowS),
    requests: sumOf(requests),
    served: sumOf(requests, isServed),
    retryable: sumOf(requests, (count) => outcomeOf(count) === "retryable"),
    failed: sumOf(requests, (count) => outcomeOf(count) === "failed"),
    kinds: kindsOf(requests),
    longestMs: longestUs / 1_000,
    streams: {
      count: sumOf(streams),
      interrupted: sumOf(streams, isTruncated("interrupted")),
      truncated: sumOf(streams, isTruncated("truncated")),
      inFlight: {
        count: sumOf(inFlight),
        finished: sumOf(inFlight, isServed),
        interrupted: sumOf(inFlight, isTruncated("interrupted")),
        truncated: sumOf(inFlight, isTruncated("truncated")),
        other: sumOf(inFlight, (count) => !isServed(count) && truncationOf(count) === undefined),
      },
    },
    before: level === undefined ? null : beforeOf(level),
    limit: limitFigures([all[0], counted, all[index + 1]], {
      countedBeforeS: Math.floor((times[0]?.atS ?? 0) + 1e-6),
      windowS,
      untilS: Math.max(0, Math.min(last, untilNextS)),
    }),
    recoveredS,
    observedS,
    seconds: counted.seconds
      .filter(([second]) => second >= -MAX_BEFORE_S && second < Math.max(windowS, observedS))
      .sort(([a], [b]) => a - b)
      .map(([second, one]) => ({ second, ...secondFigures(one) })),
  };
}

function beforeOf({ seconds, servedShare, p50Ms, p95Ms }: Level): EventFigures["before"] {
  return { seconds, servedShare, p50Ms, p95Ms };
}

/** The most frequent kinds first; what differs only in the reason of a denial stays separate. */
function kindsOf(requests: readonly EventCount[]): EventFigures["kinds"] {
  const kinds = new Map<string, EventFigures["kinds"][number]>();
  for (const one of requests) {
    const { stream, count, what, retryAfter } = one;
    const outcome = outcomeOf(one);
    const failure = failureOf(one);
    const named = outcome === "served" ? "served" : retryAfter === "missing" ? `${what} without Retry-After` : what;
    const key = `${outcome} ${failure} ${stream} ${named}`;
    const known = kinds.get(key);
    if (known === undefined) kinds.set(key, { what: named, outcome, ...(failure && { failure }), stream, count });
    else known.count += count;
  }
  return [...kinds.values()].sort((a, b) => b.count - a.count);
}

/**
 * Requests that an event's expectations judge, by how the load counts them, so that the load's own bounds apply to all others.
 *
 * @param judged which of them have an expectation.
 */
export function countsJudgedByEvent(
  { seconds, inFlight }: EventCounts,
  windowS: number,
  judged: { readonly failed: boolean; readonly retryable: boolean },
): EventCount[] {
  const inWindow = seconds.flatMap(([second, { counts }]) => (second >= 0 && second < windowS ? counts : []));
  return [...inFlight, ...inWindow].filter((count) => {
    const outcome = outcomeOf(count);
    return (outcome === "failed" && judged.failed) || (outcome === "retryable" && judged.retryable);
  });
}
