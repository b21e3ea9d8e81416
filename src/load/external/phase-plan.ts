import type { Dialect } from "../../dialects/index.ts";

/** One kind of request in a plan; each `@nonce@` in its body is replaced with a unique text. */
export interface PlannedRequest {
  readonly dialect: Dialect;
  readonly stream: boolean;
  readonly body: string;
  /** A chat stream that must report its usage. */
  readonly usageRequested?: boolean;
  readonly weight: number;
}

export type PlannedArrivals =
  | { readonly kind: "at-once"; readonly count: number }
  | { readonly kind: "even"; readonly count: number; readonly everyMs: number }
  | { readonly kind: "ramp"; readonly fromPerS: number; readonly toPerS: number; readonly durationMs: number };

/** Arrivals, and the time without any after them. */
export interface PlannedSpan {
  readonly arrivals: PlannedArrivals;
  readonly gapMs: number;
}

/** Requests with one arrival pattern, fixed before the run. Times are ms from the start of the run. */
export interface PlannedGroup {
  readonly scenario: string;
  readonly phase: string;
  readonly role: string;
  readonly startMs: number;
  readonly arrivals: PlannedArrivals;
  readonly requests: readonly PlannedRequest[];
  readonly draw: "turns" | "weights";
  readonly retryAfter: "none" | "compliant" | "ignoring";
  /** Maximum in flight of an open loop. */
  readonly vus: number;
  readonly untilMs: number;
}

export interface PlannedPhase {
  readonly name: string;
  readonly title: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** A run that is fully scheduled in advance, so that another machine can execute it without feedback. */
export interface LoadPlan {
  readonly phases: readonly PlannedPhase[];
  readonly groups: readonly PlannedGroup[];
  /** Differences from the workload as written, as text. */
  readonly remarks: readonly string[];
}

/** The span of a group's arrivals, ms. */
export function spanMs(arrivals: PlannedArrivals): number {
  if (arrivals.kind === "at-once") return 0;
  return arrivals.kind === "even" ? arrivals.count * arrivals.everyMs : arrivals.durationMs;
}

/** Requests of a group, without retries. */
export function countOf(arrivals: PlannedArrivals): number {
  if (arrivals.kind !== "ramp") return arrivals.count;
  return Math.floor(((arrivals.fromPerS + arrivals.toPerS) / 2) * (arrivals.durationMs / 1_000) + 1e-9);
}
