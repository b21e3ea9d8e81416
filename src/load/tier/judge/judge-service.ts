import { formatCount, median } from "../../../core/index.ts";
import { DIALECTS, type Dialect } from "../../../dialects/index.ts";
import { finding, type Observation } from "../../../judging/index.ts";
import { isAdmitted, STRAY_SHARE, type Stretch } from "../../../limits/index.ts";
import type { Finding } from "../../../record/index.ts";
import { reachedGateway } from "../../analysis/judge-totals.ts";
import { ratioOf } from "../../measure/phase-record.ts";
import { ERROR_IN_STREAM } from "../../send/outcome.ts";
import { exchangesOf, isFailure, kindsText, serviceMs } from "../observations.ts";
import { lagMs, overlapUs, type StallRecord } from "./own-stalls.ts";
import { stallsIn } from "./stalls.ts";

/** Streams of several seconds reveal more than short ones; the model is found by trying. */
export interface LongModel {
  /** Duration of a lone stream, and its longest gap. */
  readonly durationMs: number;
  readonly longestGapMs: number;
  /** Share of its duration in which its tokens arrive, if it was admitted. */
  readonly spread: Readonly<Partial<Record<Dialect, number>>>;
}

/** Failures that are attributed to the network: one, or this share of the requests. */
const TOLERATED = 1;
const TOLERATED_SHARE = 0.001;
/** Minimum number of stalls over all responses before the gateway is blamed: a machine may pause once or twice. */
const STALLS = 3;

/** What must hold for the responses of any phase: served completely, with the correct text, and not degraded by concurrency. */
export function judgeService(observations: readonly Observation[], long: LongModel, heldUp: StallRecord): Finding[] {
  const served = observations.filter((one) => one.outcome !== "denied");
  const failed = served.filter(isFailure);
  const stated = failed.filter(({ what }) => what === ERROR_IN_STREAM);
  const cut = failed.filter((one) => one.what.startsWith("cut") || stated.includes(one));
  const errors = failed.filter((one) => !cut.includes(one));
  const few = (count: number) => count <= Math.max(TOLERATED, served.length * TOLERATED_SHARE);
  // Up to this share, a provider may be the cause (the specification has a status for that): only a warning.
  const weightOf = (count: number) => (count <= served.length * STRAY_SHARE ? "warn" : "fail");
  const crossed = observations.filter(({ flaw }) => flaw === "crossed");
  const incomplete = observations.filter(({ flaw }) => flaw === "incomplete");
  const echoes = observations.filter(
    ({ role, outcome }) => role !== "wave" && role !== "again" && outcome === "admitted",
  );
  // A model that never repeats the exact text is not an echo, whatever its name.
  const repeats = incomplete.length < echoes.length * 0.5;
  return [
    finding({
      name: "service.failed",
      title: "Admitted requests get a response",
      requirements: ["BASE-3", "LIMIT-CONC-7", "STEADY-SERVICE"],
      met: few(errors.length),
      expected: `at most ${TOLERATED}`,
      observed: `${errors.length} of ${served.length}: ${kindsText(errors)}`,
      basis: "timing",
      weight: weightOf(errors.length),
      exchanges: exchangesOf(errors),
      magnitude: ratioOf(errors.length, served.length),
    }),
    finding({
      name: "service.cut",
      title: "Responses are complete",
      requirements: ["BASE-3", "LIMIT-CONC-7", "STREAM-3"],
      met: few(cut.length),
      expected: `at most ${TOLERATED}`,
      observed: `${cut.length} of ${served.length}: ${kindsText(cut)}`,
      basis: few(stated.length) ? "timing" : "content",
      weight: weightOf(cut.length),
      exchanges: exchangesOf(cut),
      magnitude: ratioOf(cut.length, served.length),
    }),
    finding({
      name: "answers.crossed",
      title: "No response belongs to another request",
      requirements: ["CHAT-2", "STREAM-4"],
      met: crossed.length === 0,
      expected: "0",
      observed: `${crossed.length} of ${echoes.length}`,
      basis: "content",
      exchanges: exchangesOf(crossed),
      magnitude: ratioOf(crossed.length, echoes.length),
    }),
    finding({
      name: "answers.incomplete",
      title: "Replies have their full text",
      requirements: ["CHAT-2", "STREAM-4"],
      met: !repeats || incomplete.length <= TOLERATED,
      expected: `at most ${TOLERATED}`,
      observed: `${incomplete.length} of ${echoes.length} lack text`,
      basis: "timing",
      exchanges: exchangesOf(incomplete),
      magnitude: ratioOf(incomplete.length, echoes.length),
    }),
    ...streamsUnderLoad(observations, long, heldUp),
    ...stalls(observations, heldUp),
  ];
}

function stalls(observations: readonly Observation[], heldUp: StallRecord): Finding[] {
  const found = stallsIn(observations, heldUp);
  const longest = Math.max(0, ...found.map(({ ms }) => ms));
  return [
    finding({
      name: "latency.stalls",
      title: "The gateway does not stall",
      requirements: ["STEADY-LATENCY"],
      met: found.length < STALLS,
      expected: `fewer than ${STALLS} stalls`,
      observed: `${formatCount(found.length, "stall")} of all responses at once, the longest ${Math.round(longest)} ms`,
      basis: "timing",
      weight: "warn",
    }),
  ];
}

/** Share of a response's duration in which a buffered stream delivers its tokens; and number of streams that prove it. */
const BUFFERED = 0.1;
const MIN_STREAMS = 4;
/** A stream that took this many times as long as a lone one was not buffered: the gateway or its host stalled. */
const MAX_DURATION_FACTOR = 1.5;
/**
 * If this process was stalled for more than this share of a stream's duration, the token times are ours: a stream that arrives
 * piece by piece loses no more of its spread than that.
 */
const STALLED_SHARE = 0.6;

/** Share of a stream's duration, from its sending to its end, in which its tokens arrive. */
export function spreadOf({ firstTokenUs, endUs, sentUs }: Observation): number {
  return firstTokenUs === undefined ? 0 : (endUs - firstTokenUs) / Math.max(1, endUs - sentUs);
}

/** Concurrent streams must arrive like a lone one. */
function streamsUnderLoad(observations: readonly Observation[], long: LongModel, heldUp: StallRecord): Finding[] {
  const streams = observations
    .filter(
      ({ role, stream, tokens }) =>
        (role === "wave" || role === "again" || role === "background") && stream && (tokens ?? 0) > 4,
    )
    .filter(isAdmitted);
  if (streams.length < 2 * MIN_STREAMS || long.durationMs < 500) return [];
  const measured = streams.filter(
    (one) =>
      serviceMs(one) <= long.durationMs * MAX_DURATION_FACTOR &&
      stalledShare(one, heldUp.stalledSpans) <= STALLED_SHARE,
  );
  const leastMs = Math.max(1_500, long.longestGapMs * 10);
  const stalled = streams.filter((one) => (one.longestGapUs ?? 0) / 1_000 > leastMs + lagMs(one, heldUp));
  // Dialects have separate encoders; one whose lone stream arrived all at once cannot get worse.
  const heldBack = DIALECTS.flatMap((dialect) => {
    const own = measured.filter((one) => one.dialect === dialect).map(spreadOf);
    const share = median(own);
    return own.length >= MIN_STREAMS && share <= BUFFERED && (long.spread[dialect] ?? 1) > BUFFERED
      ? [`${dialect}: tokens arrive in the last ${Math.round(share * 100)} % of the response`]
      : [];
  });
  return [
    finding({
      name: "streams.stall",
      title: "Streams do not stall while others run",
      requirements: ["STREAM-3", "STEADY-LATENCY"],
      met: stalled.length < streams.length * 0.1,
      expected: "fewer than 10 %",
      observed: `${stalled.length} of ${streams.length} had a gap far longer than a lone stream`,
      basis: "timing",
      weight: "warn",
      exchanges: exchangesOf(stalled),
    }),
    measured.length < MIN_STREAMS
      ? finding({
          name: "streams.buffered",
          title: "Streams arrive incrementally while others run",
          requirements: ["STREAM-1"],
          undecided: `only ${measured.length} of ${streams.length} streams arrived without a stall`,
          basis: "timing",
        })
      : finding({
          name: "streams.buffered",
          title: "Streams arrive incrementally while others run",
          requirements: ["STREAM-1"],
          met: heldBack.length === 0,
          expected: "spread over the duration of the response",
          observed: heldBack.join(", ") || `all ${measured.length} streams were spread`,
          basis: "timing",
        }),
  ];
}

function stalledShare({ sentUs, endUs }: Observation, stalledSpans: readonly Stretch[]): number {
  return overlapUs(sentUs, endUs, stalledSpans) / Math.max(1, endUs - sentUs);
}

/**
 * Whether anything was served at all. A phase without served requests never shows that a gateway is conformant. If requests
 * reached the gateway, none was denied and all of them failed, the gateway is at fault.
 */
export function judgeAdmission(observations: readonly Observation[]): Finding[] {
  const title = "Requests are admitted";
  const admitted = observations.filter(isAdmitted).length;
  const observed = `${admitted} of ${observations.length} admitted`;
  const isDenied = observations.some(({ outcome }) => outcome === "denied");
  if (admitted > 0 || (!isDenied && observations.some(reachedGateway))) {
    const summary = admitted > 0 ? observed : `${observed}: ${kindsText(observations)}`;
    return [
      finding({
        name: "service.admitted",
        title,
        requirements: ["BASE-3"],
        met: admitted > 0,
        expected: "at least 1",
        observed: summary,
        basis: "content",
        exchanges: admitted > 0 ? [] : exchangesOf(observations),
      }),
    ];
  }
  return [
    finding({
      name: "service.admitted",
      title,
      requirements: ["BASE-3"],
      undecided: observations.length === 0 ? "nothing was sent" : `${observed}: ${kindsText(observations)}`,
      // A busy machine does not explain why every connection failed.
      basis: observations.length === 0 || isDenied ? "timing" : "content",
    }),
  ];
}
