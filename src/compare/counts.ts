import type { LoadPhase } from "../record/index.ts";

/** Outcomes whose shares are compared; lower is better. */
export const COMPARED_COUNTS = ["denied", "failed", "invalid"] as const satisfies readonly (keyof LoadPhase)[];

type ComparedCount = (typeof COMPARED_COUNTS)[number];
export type ComparedCounts = Readonly<Record<ComparedCount, number>>;

/** One number per outcome. */
export function countsOf(read: (what: ComparedCount) => number): ComparedCounts {
  return Object.fromEntries(COMPARED_COUNTS.map((what) => [what, read(what)])) as Record<ComparedCount, number>;
}
