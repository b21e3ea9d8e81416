import type * as z from "zod";
import type { PlannedSpan } from "../external/phase-plan.ts";
import type { Schedule, TraceEntry } from "./schedule.ts";

/** Totals of a plan, for the dry run and for upper bounds. */
export interface PlannedTotals {
  /** Number of requests; an estimate for Poisson arrivals, `undefined` if only time ends a closed loop. */
  readonly requests: number | undefined;
  /** If there may be more than `requests`, because their number is random. */
  readonly maxRequests?: number;
  readonly durationS: number | undefined;
  readonly peakPerS: number | undefined;
  /** Only a closed loop has a fixed number in flight. */
  readonly inFlight?: number;
}

/** Mean tokens of a request. */
export interface MeanTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** A request in simulated time. */
interface SimulatedRequest {
  /** From the start of the plan. */
  readonly atUs: number;
  readonly durationUs: number;
}

/** A kind of load for an engine that executes a fixed schedule. */
interface FixedForm<Arrivals> {
  spans(arrivals: Arrivals): PlannedSpan[];
  /** Remark on a random schedule, which k6 sends evenly. */
  readonly evenly?: string;
}

/**
 * What one kind of arrivals amounts to, and when its requests are due. Other code looks kinds up in the table in `arrivals.ts`.
 */
export interface ArrivalKind<Arrivals extends { readonly kind: string }> {
  plan(arrivals: Arrivals): PlannedTotals;
  /** Due times; a closed loop has none. @param seed used if the arrivals set none. */
  schedule?(arrivals: Arrivals, seed: number): Schedule;
  /** The fixed schedule for k6, or a phrase that says why there is none: "a closed loop". */
  readonly fixed: FixedForm<Arrivals> | string;
  /** Only for uniform load, which `--until` may end at any time. @param durationS the new bound; default: its own. */
  lasting?(arrivals: Arrivals, durationS: number | undefined): Arrivals;
  /** If its requests come from a trace instead of the mix. */
  readonly trace?: {
    entries(arrivals: Arrivals): readonly TraceEntry[];
    withEntries(arrivals: Arrivals, entries: readonly TraceEntry[]): Arrivals;
  };
  /** Default: those of the mix. */
  meanTokens?(arrivals: Arrivals, ofMix: MeanTokens): MeanTokens;
  /** Requests without limits in simulated time; default: as scheduled. @param max maximum number of requests. */
  simulate?(arrivals: Arrivals, durationUs: () => number, max: number): SimulatedRequest[];
  /** Why the arrivals cannot be simulated, after the name of the workload. */
  readonly notSimulated?: string;
}

/**
 * How a kind of arrivals is written in a workload file. The files of the kinds export it as a function, so that a worker, which reads
 * no file, does not contain the libraries that do.
 */
export interface WrittenArrivals<Written extends z.ZodType, Arrivals> {
  readonly schema: Written;
  /** Validates what the schema cannot express. */
  problem?(written: z.infer<Written>): string | undefined;
  /** Messages about a mix that it cannot send. */
  problemOfMix?(mix: readonly { readonly images?: unknown; readonly toolCalls?: unknown }[]): string | undefined;
  /** Specifies prompt lengths in tokens, whether or not the mix does. */
  readonly namesTokens?: true;
  /** Fills in defaults. @param fileOf resolves the path of a file that the workload names. */
  resolve(written: z.infer<Written>, fileOf: (name: string) => string): Arrivals;
}

/** Infers the types of a declaration. */
export function writtenArrivals<Written extends z.ZodType, Arrivals extends { readonly kind: string }>(
  written: WrittenArrivals<Written, Arrivals>,
): WrittenArrivals<Written, Arrivals> {
  return written;
}
