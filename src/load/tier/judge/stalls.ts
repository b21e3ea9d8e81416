import { groupBy, median } from "../../../core/index.ts";
import type { Observation } from "../../../judging/index.ts";
import { hasHead, type WithHead } from "../../../limits/index.ts";
import { isLong } from "../observations.ts";
import { overlapUs, type StallRecord } from "./own-stalls.ts";

export interface Stall {
  readonly fromUs: number;
  readonly ms: number;
}

/** Minimum silence that counts, ms, and as a multiple of the usual latency. */
const MIN_MS = 250;
const FACTOR = 8;
/** Requests that waited together are released together, within this time, µs. */
const RELEASE_US = 80_000;
const MIN_WAITING = 2;
/** Shorter waits do not count as held up, µs. */
const WAITING_US = 100_000;
/**
 * If this process was stalled for more than this share of a silence, and less than this time of it is left, µs, we may be the
 * cause of all of it.
 */
const OWN_SHARE = 0.3;
const MAX_OWN_REST_US = 1_000_000;
/**
 * Share of a silence that is attributed to a busy machine, and at most this time, µs: a busy machine does not stop completely.
 */
const BUSY_WEIGHT = 0.6;
const MAX_BUSY_US = 500_000;

/**
 * Finds ranges without any response although several requests waited, which then got their responses together. A single slow
 * request is not a stall, nor are slow responses with others arriving in between.
 *
 * @param heldUp ranges in which this process was stalled, or the whole machine was busy.
 */
export function stallsIn(observations: readonly Observation[], { stalledSpans, busy }: StallRecord): Stall[] {
  // The head is the start of a response; it shows that long streams are alive.
  const responses = observations.filter(hasHead).sort((a, b) => a.headUs - b.headUs);
  const leastOf = leastSilenceUs(responses);
  const stalls: Stall[] = [];
  for (let index = 1; index < responses.length; index++) {
    const before = responses[index - 1] as WithHead;
    const first = responses[index] as WithHead;
    const silenceUs = first.headUs - before.headUs;
    if (silenceUs < MIN_MS * 1_000) continue;
    const fromUs = before.headUs;
    const waiting: WithHead[] = [];
    for (let next = index; next < responses.length; next++) {
      const one = responses[next] as WithHead;
      if (one.headUs > first.headUs + RELEASE_US) break;
      const waited = one.sentUs < first.headUs - WAITING_US && one.headUs - one.sentUs > WAITING_US;
      if (waited && silenceUs >= leastOf(one)) waiting.push(one);
    }
    if (waiting.length < MIN_WAITING) continue;
    const ownUs = overlapUs(fromUs, first.headUs, stalledSpans);
    if (ownUs > silenceUs * OWN_SHARE && silenceUs - ownUs < MAX_OWN_REST_US) continue;
    // Without requests there can be no responses: the silence starts with the first waiting request.
    const begunUs = Math.min(...waiting.map(({ sentUs }) => sentUs));
    const sinceUs = Math.max(fromUs, begunUs);
    const ms = (first.headUs - sinceUs - overlapUs(sinceUs, first.headUs, stalledSpans)) / 1_000;
    const busyUs = overlapUs(sinceUs, first.headUs, busy);
    const leastUs = Math.min(...waiting.map(leastOf));
    if (ms * 1_000 - Math.min(MAX_BUSY_US, busyUs * BUSY_WEIGHT) >= leastUs * 0.8) stalls.push({ fromUs, ms });
  }
  return stalls;
}

/** Minimum silence that counts for a request: its kind may always be slow, as denials are at some gateways. */
function leastSilenceUs(responses: readonly WithHead[]): (one: Observation) => number {
  const kindOf = (one: Observation) => `${one.outcome} ${one.dialect} ${one.stream} ${isLong(one)}`;
  const least = new Map(
    [...groupBy(responses, kindOf)].map(([kind, own]) => {
      const usualMs = median(own.map(({ headUs, sentUs }) => (headUs - sentUs) / 1_000));
      return [kind, Math.max(MIN_MS, usualMs * FACTOR) * 1_000] as const;
    }),
  );
  return (one) => least.get(kindOf(one)) ?? MIN_MS * 1_000;
}
