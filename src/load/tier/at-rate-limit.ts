import { nowUs } from "../../http/load-client/index.ts";
import { finding, type Observation } from "../../judging/index.ts";
import {
  isAdmitted,
  isConcurrencyDenial,
  isRateDenial,
  isTooClose,
  latestCountUs,
  maxInFlightAtDenial,
  WINDOW_OVER_MS,
} from "../../limits/index.ts";
import type { Finding } from "../../record/index.ts";
import type { Limits } from "../../target/index.ts";
import { ratioOf } from "../measure/phase-record.ts";
import { SETTLE_MS } from "./at-concurrency-limit.ts";
import { exchangesOf } from "./observations.ts";
import type { TierBench, TierRequest } from "./tier-bench.ts";

/** Share of the rate that is sent: the rest is reserved for network jitter, which even a strict limiter must tolerate. */
export const SHARE = 0.94;
/** Role of requests that are sent again when only this run's own traffic can still count. */
const AGAIN = "even-again";

/** A whole minute of even traffic just below the rate. */
export function evenMinute(rpm: number): number {
  return Math.floor(rpm * SHARE);
}

/**
 * Sends evenly just below the rate. Denials in the run's first minute may be caused by earlier traffic: they are waited out, and
 * a whole minute of the same is sent: what is left of the first one fits under half the rate.
 *
 * @param count requests that a minute's limit still allows.
 */
export async function atTheLimit(bench: TierBench, count: number): Promise<void> {
  const kinds = bench.kinds("echo");
  const send = (role: string, requests: number) =>
    evenly(bench, requests, bench.ratePerS * SHARE, (index) =>
      bench.send(kinds[index % kinds.length] as TierRequest, role),
    );
  await send("even", count);
  const knownUs = knownFromUs(bench.observations);
  if (!bench.observations.some((one) => one.role === "even" && isRateDenial(one) && one.sentUs < knownUs)) return;
  if (await bench.wait(WINDOW_OVER_MS, "the rate window")) await send(AGAIN, evenMinute(bench.limits.rpm));
}

/** The time from which only the run's own traffic can count. @param all all observations of the run so far. */
function knownFromUs(all: readonly Observation[]): number {
  return all.reduce((first, { sentUs }) => Math.min(first, sentUs), Number.POSITIVE_INFINITY) + WINDOW_OVER_MS * 1_000;
}

/** Sends on a fixed schedule; a late send keeps its due time. */
async function evenly(bench: TierBench, count: number, ratePerS: number, send: (index: number) => Promise<unknown>) {
  const startUs = nowUs();
  const sent: Promise<unknown>[] = [];
  for (let index = 0; index < count; index++) {
    const waitMs = (startUs + (index * 1_000_000) / ratePerS - nowUs()) / 1_000;
    if (waitMs > 0.5 && !(await bench.wait(waitMs))) break;
    sent.push(send(index));
  }
  await Promise.all(sent);
}

/** @param all all observations of the run so far, to account for earlier requests. */
export function judgeAtTheLimit(
  observations: readonly Observation[],
  all: readonly Observation[],
  { rpm, inFlight }: Pick<Limits, "rpm" | "inFlight">,
): Finding[] {
  const countedUs = latestCountUs(all);
  const own = observations.map(countedUs).sort((x, y) => x - y);
  const denied = observations.filter(isRateDenial);
  // A request sent slightly over a minute ago counts if its response was late.
  const unexplained = denied.filter((denial) => {
    const { sentUs } = denial;
    const untilUs = countedUs(denial);
    const lastMinute = all.filter((other) => other.sentUs <= untilUs && countedUs(other) > sentUs - 60_000_000).length;
    return lastMinute <= rpm && !isTooClose(own, { sentUs, untilUs }, rpm);
  });
  const knownUs = knownFromUs(all);
  const early = unexplained.filter(({ sentUs }) => sentUs < knownUs);
  const late = unexplained.length - early.length;
  const limit = observations.filter(
    (one) => isConcurrencyDenial(one) && maxInFlightAtDenial(one, all, SETTLE_MS) < inFlight,
  );
  const title = "Traffic below the rate limit is not denied by it";
  const observed = `${denied.length} of ${observations.length} denied by the rate limit, ${late} of them below it`;
  const open = early.length > 0 && late === 0 && !observations.some(({ role }) => role === AGAIN);
  if (!observations.some(isAdmitted))
    return [
      finding({
        name: "rate.denied-below-limit",
        title,
        requirements: ["LIMIT-RATE-3"],
        undecided: `none of ${observations.length} requests was admitted`,
        basis: "timing",
      }),
    ];
  return [
    open
      ? finding({
          name: "rate.denied-below-limit",
          title,
          requirements: ["LIMIT-RATE-3"],
          undecided: `${early.length} of ${observations.length} denied in the run's first minute, in which traffic before it may count`,
          basis: "timing",
        })
      : finding({
          name: "rate.denied-below-limit",
          title,
          requirements: ["LIMIT-RATE-3"],
          met: late === 0,
          expected: "0 denied",
          observed,
          basis: "timing",
          exchanges: exchangesOf(unexplained),
          magnitude: ratioOf(late, observations.length),
        }),
    finding({
      name: "concurrency.denied-below-limit",
      title: "Requests are not denied by the concurrency limit while few are in flight",
      requirements: ["LIMIT-CONC-2", "LIMIT-CONC-4"],
      met: limit.length === 0,
      expected: "0 denied",
      observed: `${limit.length} of ${observations.length} denied by the concurrency limit with fewer than ${inFlight} possibly running`,
      basis: "timing",
      exchanges: exchangesOf(limit),
      magnitude: ratioOf(limit.length, observations.length),
    }),
  ];
}
