import { type Random, seededRandom } from "../../core/index.ts";
import type { Dialect } from "../../dialects/index.ts";
import { type Lengths, longestOf } from "../workload/lengths.ts";

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

/** When requests are due. `closed` has no clock: each request waits for the previous response. */
export type Arrivals =
  | { readonly kind: "constant"; readonly ratePerS: number; readonly durationS: number }
  | {
      readonly kind: "poisson";
      readonly ratePerS: number;
      readonly durationS: number;
      readonly seed?: number | undefined;
    }
  | { readonly kind: "ramp"; readonly fromPerS: number; readonly toPerS: number; readonly durationS: number }
  | { readonly kind: "steps"; readonly steps: readonly { readonly ratePerS: number; readonly durationS: number }[] }
  | { readonly kind: "burst"; readonly size: number; readonly everyS: number; readonly durationS: number }
  | {
      readonly kind: "closed";
      readonly inFlight: number;
      readonly requests?: number | undefined;
      readonly durationS?: number | undefined;
      /** Starts are spread over this time; default 1 s. Starting all at once would keep the streams in step for a long time. */
      readonly rampS?: number | undefined;
    }
  | {
      /** Sessions arrive on a schedule; their later turns follow the responses. */
      readonly kind: "sessions";
      readonly ratePerS: number;
      readonly durationS: number;
      readonly spacing: "even" | "poisson";
      readonly turns: Lengths;
      readonly thinkMs: Lengths;
      /** A system prompt: `share` of the sessions use the same one, the others a unique one. */
      readonly sharedPrefix?: { readonly share: number; readonly tokens: number } | undefined;
      /** Name of the header with the session id. */
      readonly header: string;
    }
  | { readonly kind: "replay"; readonly entries: readonly TraceEntry[]; readonly speed?: number | undefined };

export type SessionArrivals = Extract<Arrivals, { kind: "sessions" }>;
export type OpenArrivals = Exclude<Arrivals, { kind: "closed" }>;

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

/** @param seed for Poisson arrivals without a seed. */
export function scheduleOf(arrivals: OpenArrivals, seed: number): Schedule {
  switch (arrivals.kind) {
    case "constant":
      return constant(arrivals.ratePerS, arrivals.durationS);
    case "poisson":
      return poisson(arrivals.ratePerS, arrivals.durationS, seededRandom(arrivals.seed ?? seed));
    case "ramp":
      return ramp(arrivals.fromPerS, arrivals.toPerS, arrivals.durationS);
    case "steps":
      return steps(arrivals.steps);
    case "burst":
      return burst(arrivals.size, arrivals.everyS, arrivals.durationS);
    case "sessions": {
      const { spacing, ratePerS, durationS } = arrivals;
      return spacing === "even" ? constant(ratePerS, durationS) : poisson(ratePerS, durationS, seededRandom(seed));
    }
    case "replay":
      return replay(arrivals.entries, arrivals.speed ?? 1);
  }
}

function constant(ratePerS: number, durationS: number): Schedule {
  let sent = 0;
  const max = ratePerS * durationS;
  // Computed from the index instead of a running sum, which would drift.
  return { next: () => (sent >= max - 1e-9 ? undefined : (sent++ * 1_000_000) / ratePerS) };
}

function poisson(ratePerS: number, durationS: number, random: Random): Schedule {
  let atUs = 0;
  return {
    next() {
      atUs += (-Math.log(1 - random()) * 1_000_000) / ratePerS;
      return atUs >= durationS * 1_000_000 ? undefined : atUs;
    },
  };
}

/** The rate changes linearly: the n-th arrival is where the integral of the rate reaches n. */
function ramp(fromPerS: number, toPerS: number, durationS: number): Schedule {
  let sent = 0;
  const slope = (toPerS - fromPerS) / durationS;
  const total = ((fromPerS + toPerS) / 2) * durationS;
  return {
    next() {
      if (sent >= total - 1e-9) return undefined;
      const n = sent++;
      if (Math.abs(slope) < 1e-9) return (n * 1_000_000) / fromPerS;
      const root = Math.sqrt(Math.max(0, fromPerS * fromPerS + 2 * slope * n));
      return ((root - fromPerS) / slope) * 1_000_000;
    },
  };
}

function steps(plan: readonly { readonly ratePerS: number; readonly durationS: number }[]): Schedule {
  let index = 0;
  let beginUs = 0;
  let current = plan[0] === undefined ? undefined : constant(plan[0].ratePerS, plan[0].durationS);
  return {
    next() {
      while (current !== undefined) {
        const atUs = current.next();
        if (atUs !== undefined) return beginUs + atUs;
        beginUs += (plan[index]?.durationS ?? 0) * 1_000_000;
        const step = plan[++index];
        current = step === undefined ? undefined : constant(step.ratePerS, step.durationS);
      }
      return undefined;
    },
  };
}

function burst(size: number, everyS: number, durationS: number): Schedule {
  let sent = 0;
  return {
    next() {
      const atUs = Math.floor(sent / size) * everyS * 1_000_000;
      sent++;
      return atUs >= durationS * 1_000_000 ? undefined : atUs;
    },
  };
}

function replay(entries: readonly TraceEntry[], speed: number): Schedule {
  let index = 0;
  return {
    next() {
      const entry = entries[index++];
      return entry === undefined ? undefined : (entry.offsetMs * 1_000) / speed;
    },
  };
}

/** What a plan amounts to, for the dry run and for bounds. */
export interface PlannedArrivals {
  /** Number of requests; an estimate for Poisson arrivals, `undefined` if only time ends a closed loop. */
  readonly requests: number | undefined;
  readonly durationS: number | undefined;
  readonly peakPerS: number | undefined;
}

export function planOf(arrivals: Arrivals): PlannedArrivals {
  switch (arrivals.kind) {
    case "constant":
    case "poisson": {
      const { ratePerS, durationS } = arrivals;
      return { requests: Math.ceil(ratePerS * durationS), durationS, peakPerS: ratePerS };
    }
    case "ramp": {
      const { fromPerS, toPerS, durationS } = arrivals;
      const requests = Math.ceil(((fromPerS + toPerS) / 2) * durationS);
      return { requests, durationS, peakPerS: Math.max(fromPerS, toPerS) };
    }
    case "steps": {
      const requests = arrivals.steps.reduce((sum, step) => sum + Math.ceil(step.ratePerS * step.durationS), 0);
      const durationS = arrivals.steps.reduce((sum, step) => sum + step.durationS, 0);
      return { requests, durationS, peakPerS: Math.max(...arrivals.steps.map(({ ratePerS }) => ratePerS)) };
    }
    case "burst": {
      const { size, everyS, durationS } = arrivals;
      return { requests: size * Math.ceil(durationS / everyS), durationS, peakPerS: size / Math.min(1, everyS) };
    }
    case "sessions": {
      const { ratePerS, durationS, turns, thinkMs } = arrivals;
      const max = longestOf(turns);
      return {
        requests: Math.ceil(ratePerS * durationS) * max,
        // Response times come on top; they are unknown in advance.
        durationS: durationS + ((max - 1) * longestOf(thinkMs)) / 1_000,
        peakPerS: ratePerS * max,
      };
    }
    case "closed":
      return { requests: arrivals.requests, durationS: arrivals.durationS, peakPerS: undefined };
    case "replay": {
      const { entries, speed = 1 } = arrivals;
      const durationS = (entries.at(-1)?.offsetMs ?? 0) / 1_000 / speed;
      return { requests: entries.length, durationS, peakPerS: peakOf(entries, speed) };
    }
  }
}

/** Maximum number of trace arrivals within one second. */
function peakOf(entries: readonly TraceEntry[], speed: number): number {
  const perSecond = new Map<number, number>();
  for (const { offsetMs } of entries) {
    const second = Math.floor(offsetMs / 1_000 / speed);
    perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
  }
  return Math.max(0, ...perSecond.values());
}
