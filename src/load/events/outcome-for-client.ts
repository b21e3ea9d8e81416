import { ERROR_IN_STREAM } from "../send/outcome.ts";
import type { EventCount } from "./event-tally.ts";

/** How a request ended, as its client sees it. */
export function outcomeOf({ outcome, retryAfter }: EventCount): "served" | "retryable" | "failed" {
  if (outcome === "admitted") return "served";
  return retryAfter === "usable" ? "retryable" : "failed";
}

/** How a client learns that a request failed. */
export function failureOf(count: EventCount): "stated" | "invalid" | "incomplete" | undefined {
  const { outcome, what } = count;
  if (outcomeOf(count) !== "failed") return undefined;
  if (outcome === "invalid") return "invalid";
  return outcome === "denied" || what === ERROR_IN_STREAM || STATUS.test(what) ? "stated" : "incomplete";
}

const STATUS = /^\d{3}$/;

/** How many requests a condition applies to. */
export function sumOf(counts: readonly EventCount[], isCounted: (count: EventCount) => boolean = () => true): number {
  return counts.reduce((sum, one) => (isCounted(one) ? sum + one.count : sum), 0);
}
