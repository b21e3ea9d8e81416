import type { Dialect } from "../../dialects/index.ts";

/** One line of a trace. Foreign traces specify neither dialect nor mode: these are drawn from the mix. */
export interface TraceEntry {
  /** From the start of the trace, milliseconds. */
  readonly offsetMs: number;
  readonly dialect?: Dialect | undefined;
  readonly stream?: boolean | undefined;
  readonly promptTokens: number;
  readonly maxTokens: number;
  /** Ids of the blocks at the beginning of the prompt, if the trace has them. The same id means the same text. */
  readonly hashIds?: readonly number[] | undefined;
  /** Tokens per block; default: as in Mooncake traces. */
  readonly blockTokens?: number | undefined;
}

/** Returns the due times of an open loop in order. Pure: no clock, no timers. */
export interface Schedule {
  /** @returns microseconds from the start of the phase, never before the previous value; `undefined` at the end. */
  next(): number | undefined;
}

/** An arrival of a schedule and its index, from 0. */
export interface Arrival {
  readonly atUs: number;
  readonly ordinal: number;
}

/** A share of a schedule: every `of`-th arrival, starting at `index`. All shares together are exactly the schedule. */
export interface Part {
  /** From 0. */
  readonly index: number;
  readonly of: number;
}

/** Returns the arrivals of one part of a schedule in order; `undefined` at the end. */
export function arrivalsOf(schedule: Schedule, { index, of }: Part): () => Arrival | undefined {
  let ordinal = -1;
  return () => {
    for (;;) {
      const atUs = schedule.next();
      ordinal++;
      if (atUs === undefined) return undefined;
      if (ordinal % of === index) return { atUs, ordinal };
    }
  };
}
