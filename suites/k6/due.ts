import type { GroupArrivals } from "./plan.ts";

/**
 * When the n-th arrival of a group is due, ms from the start of the group. Pure.
 *
 * @param index 0-based over all instances: with execution segments k6 counts over the whole test.
 */
export function dueMs(arrivals: GroupArrivals, index: number): number {
  if (arrivals.kind === "at-once") return 0;
  if (arrivals.kind === "even") return index * arrivals.everyMs;
  // The rate changes evenly, and k6 sends where the integral of the rate reaches the next whole number.
  const perMs = arrivals.fromPerS / 1_000;
  const growth = (arrivals.toPerS - arrivals.fromPerS) / 1_000 / arrivals.durationMs;
  const reached = index + 1;
  if (growth === 0) return reached / perMs;
  return (-perMs + Math.sqrt(perMs * perMs + 2 * growth * reached)) / growth;
}

/**
 * Arrivals of a group. A k6 that stalled at the end of a group continues for as long as it was late: these arrivals are not sent.
 */
export function countOf(arrivals: GroupArrivals): number {
  if (arrivals.kind !== "ramp") return arrivals.count;
  return Math.floor(((arrivals.fromPerS + arrivals.toPerS) / 2) * (arrivals.durationMs / 1_000) + 1e-9);
}
