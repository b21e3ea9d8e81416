import type { SharedEvent } from "../shared/shared-event.ts";
import type { When } from "./when.ts";
import { type Apply, wrap } from "./wrap.ts";

/** Any but the first replica. Without replicas, none. */
export const otherReplica: When = ({ services }) => (services.shared?.replica ?? 1) > 1;

/** Another replica has at least `count` requests in flight. */
export const otherReplicaBusy =
  (count = 1): When =>
  ({ services }) =>
    (services.shared?.inFlightOnOthers ?? 0) >= count;

/**
 * Replicas learn of these events late, or never.
 *
 * @param afterMs `undefined`: never.
 */
export function delayEvents(about: (event: SharedEvent) => boolean, afterMs?: number): Apply {
  return wrap("propagationDelayMs", (next) => (event, replica) => (about(event) ? afterMs : next(event, replica)));
}

/** Replicas never learn of these events while a condition holds. */
export function delayEventsWhile(about: (event: SharedEvent) => boolean, holds: () => boolean): Apply {
  return wrap(
    "propagationDelayMs",
    (next) => (event, replica) => (about(event) && holds() ? undefined : next(event, replica)),
  );
}

/** Each replica counts these events separately. */
export function isolateEvents(...kinds: readonly SharedEvent["kind"][]): Apply {
  return delayEvents(({ kind }) => kinds.includes(kind));
}
