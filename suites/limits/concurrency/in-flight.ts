import { type HeldRequest, observationOf, type Response, type Session } from "../../../src/checks/index.ts";
import * as limits from "../../../src/limits/index.ts";
import { isServed } from "../denials.ts";

/** Waits until the requests are certainly in flight. */
export async function untilInFlight(t: Session, held: readonly HeldRequest[]): Promise<void> {
  await Promise.race([Promise.all(held.map(({ started }) => started)), t.wait(limits.IN_FLIGHT_MS)]);
}

/** Whether a response was decided while every held stream was running. */
export function wasAtLimit(response: Response, held: readonly Response[]): boolean {
  return limits.wasAtLimit(observationOf(response), held.map(observationOf));
}

/** A request that was served although the concurrency limit was already reached. */
export function servedAtLimit(responses: readonly Response[], held: readonly Response[]): Response | undefined {
  return responses.find((response) => isServed(response) && wasAtLimit(response, held));
}

/** A request that waited at the concurrency limit until another one had ended. */
export function queuedAtLimit(responses: readonly Response[], held: readonly Response[]): Response | undefined {
  const [queued] = limits.queuedAtLimit(responses.map(observationOf), held.map(observationOf));
  return responses.find(({ id }) => id === queued?.exchange);
}

/** Maximum number of served requests that were running at the same time. */
export function mostInFlight(responses: readonly Response[]): number {
  return limits.peakInFlight(responses.map(observationOf));
}
