import type { Held, Response, Session } from "../../src/checks/index.ts";
import { isServed } from "./limit-denials.ts";

/**
 * Whether a response was decided while every held stream was running: the request was sent after the last of them had begun, and
 * the response arrived before the first of them ended. Otherwise admitting it may have been correct.
 */
export function wasAtLimit(response: Response, held: readonly Response[]): boolean {
  const { sentUs = 0, headersUs, endUs } = response.exchange.timeline;
  const { fromUs, toUs } = spanAtLimit(held);
  return sentUs >= fromUs && (headersUs ?? endUs) < toUs;
}

/**
 * A request sent this long ago (ms) counts as in flight, even if the model is slow to send the first piece of a reply. Busy
 * gateways take more than half a second to count a request.
 */
const IN_FLIGHT_MS = 1_500;

/** Waits until the requests are certainly in flight. */
export async function untilInFlight(t: Session, held: readonly Held[]): Promise<void> {
  await Promise.race([Promise.all(held.map(({ started }) => started)), t.wait(IN_FLIGHT_MS)]);
}

/** From the start of the last held stream to the end of the first. */
function spanAtLimit(held: readonly Response[]): { readonly fromUs: number; readonly toUs: number } {
  return {
    fromUs: Math.max(
      ...held.map(({ exchange: { response, timeline } }) =>
        Math.min(response?.body.pieces[0]?.[0] ?? 0, (timeline.sentUs ?? timeline.dueUs) + IN_FLIGHT_MS * 1_000),
      ),
    ),
    toUs: Math.min(...held.map(({ exchange }) => exchange.timeline.endUs)),
  };
}

/** A request that was served although the concurrency limit was already reached. */
export function servedAtLimit(responses: readonly Response[], held: readonly Response[]): Response | undefined {
  return responses.find((response) => isServed(response) && wasAtLimit(response, held));
}

/** The time a gateway may take to deny a request, µs; a request that waits longer was queued. */
const DENIAL_US = 1_000_000;

/**
 * Sent at the concurrency limit, long before the first request ended, and served after it ended: a queue. If similar requests
 * were denied in time, a single one that was not means that the gateway was briefly stalled.
 */
export function queuedAtLimit(responses: readonly Response[], held: readonly Response[]): Response | undefined {
  const { fromUs, toUs } = spanAtLimit(held);
  const early = responses.filter(({ exchange: { timeline } }) => {
    const { sentUs = 0 } = timeline;
    return sentUs >= fromUs && sentUs < toUs - DENIAL_US;
  });
  const queued = early.filter((response) => {
    const { headersUs, endUs } = response.exchange.timeline;
    return isServed(response) && (headersUs ?? endUs) >= toUs;
  });
  return queued.length * 2 > early.length ? queued[0] : undefined;
}

/** Maximum number of served requests that were running at the same time, from first byte to last. */
export function mostInFlight(responses: readonly Response[]): number {
  const edges = responses.filter(isServed).flatMap(({ exchange }) => {
    const startUs = exchange.response?.body.pieces[0]?.[0] ?? exchange.timeline.endUs;
    return [
      { atUs: startUs, change: 1 },
      { atUs: exchange.timeline.endUs, change: -1 },
    ];
  });
  let now = 0;
  let most = 0;
  // If one ends at the moment another begins, the end counts first.
  for (const { change } of edges.sort((a, b) => a.atUs - b.atUs || a.change - b.change)) {
    now += change;
    most = Math.max(most, now);
  }
  return most;
}
