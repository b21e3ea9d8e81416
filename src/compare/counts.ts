import type { LoadPhase } from "../record/index.ts";

/** Outcomes whose shares are compared: fewer are better. A further outcome that a phase counts is one more name here. */
export const COMPARED_COUNTS = ["denied", "failed", "invalid"] as const satisfies readonly (keyof LoadPhase)[];

export type ComparedCounts = Readonly<Record<(typeof COMPARED_COUNTS)[number], number>>;
