import type { Held, Response, Session } from "../../src/checks/index.ts";
import { isServed } from "./limit-denials.ts";

/**
 * Whether an answer's fate was decided while every held stream was surely running: sent when the last of them had
 * begun, and answered before the first of them ended. Anything else may have been rightly admitted.
 */
export function wasAtLimit(response: Response, held: readonly Response[]): boolean {
  const { sentUs = 0, headersUs, endUs } = response.exchange.timeline;
  const { fromUs, toUs } = spanAtLimit(held);
  return sentUs >= fromUs && (headersUs ?? endUs) < toUs;
}

/**
 * A request that was sent this long ago, ms, is in flight, also where a model takes its time for the first piece of a reply. Busy gateways
 * take more than half a second to count a request.
 */
const IN_FLIGHT_MS = 1_500;

/** Waits until requests are in flight for certain. */
export async function untilInFlight(t: Session, held: readonly Held[]): Promise<void> {
  await Promise.race([Promise.all(held.map(({ started }) => started)), t.wait(IN_FLIGHT_MS)]);
}

/** From the moment at which the last of the held streams had surely begun to that at which the first had ended. */
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

/** Served although the limit was surely in flight. */
export function servedAtLimit(responses: readonly Response[], held: readonly Response[]): Response | undefined {
  return responses.find((response) => isServed(response) && wasAtLimit(response, held));
}

/** A gateway may take so long to deny, µs; a request that waits longer was queued. */
const DENIAL_US = 1_000_000;

/**
 * Sent at the concurrency limit, long before the first request ended, and served when it had: a queue. Where others that were sent
 * like it were denied in time, one that was not is a moment in which the gateway stood still.
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

/** How many served requests were running at one moment, from their first byte to their last. */
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
  // Where one ends and another begins at once, the end counts first.
  for (const { change } of edges.sort((a, b) => a.atUs - b.atUs || a.change - b.change)) {
    now += change;
    most = Math.max(most, now);
  }
  return most;
}
