import type { Limits } from "../../../target/index.ts";

/** One planned request. Microseconds from the start of the plan. */
export interface PlannedRequest {
  readonly atUs: number;
  readonly durationUs: number;
}

export const SIMULATED_KINDS = ["sliding window", "fixed window", "token bucket", "even pace"] as const;
export type SimulatedKind = (typeof SIMULATED_KINDS)[number];

export interface Applied {
  readonly requests: number;
  readonly deniedForRate: number;
  readonly deniedForConcurrency: number;
  readonly peakInFlight: number;
}

const MINUTE_US = 60_000_000;
/** A limiter with even spacing and no tolerance would deny evenly sent requests because of network jitter, µs. */
const PACE_TOLERANCE_US = 50_000;

/**
 * Applies the limits of an account to a plan. Denied requests are not retried. Pure; the planned requests are in chronological
 * order.
 */
export function applyLimits(planned: readonly PlannedRequest[], limits: Limits, kind: SimulatedKind): Applied {
  const admits = rateOf(kind, limits.rpm);
  const running = new EndQueue();
  let deniedForRate = 0;
  let deniedForConcurrency = 0;
  let peakInFlight = 0;
  for (const { atUs, durationUs } of planned) {
    running.endBefore(atUs);
    if (running.size >= limits.inFlight) {
      deniedForConcurrency++;
      continue;
    }
    if (!admits(atUs)) {
      deniedForRate++;
      continue;
    }
    running.add(atUs + durationUs);
    peakInFlight = Math.max(peakInFlight, running.size);
  }
  return { requests: planned.length, deniedForRate, deniedForConcurrency, peakInFlight };
}

/** Maximum number of requests in flight without any limit. */
export function peakOf(planned: readonly PlannedRequest[]): number {
  return applyLimits(planned, { rpm: Number.MAX_SAFE_INTEGER, inFlight: Number.MAX_SAFE_INTEGER }, "fixed window")
    .peakInFlight;
}

/** Counts the requests that it admits. */
type Admits = (atUs: number) => boolean;

function rateOf(kind: SimulatedKind, rpm: number): Admits {
  switch (kind) {
    case "sliding window":
      return sliding(rpm);
    case "fixed window":
      return fixed(rpm);
    case "token bucket":
      return bucket(rpm, rpm);
    case "even pace":
      return bucket(rpm, 1 + (PACE_TOLERANCE_US * rpm) / MINUTE_US);
  }
}

function sliding(rpm: number): Admits {
  const admitted: number[] = [];
  let oldest = 0;
  return (atUs) => {
    while (oldest < admitted.length && (admitted[oldest] as number) + MINUTE_US <= atUs) oldest++;
    if (admitted.length - oldest >= rpm) return false;
    admitted.push(atUs);
    return true;
  };
}

function fixed(rpm: number): Admits {
  let window = -1;
  let counted = 0;
  return (atUs) => {
    const current = Math.floor(atUs / MINUTE_US);
    if (current !== window) counted = 0;
    window = current;
    if (counted >= rpm) return false;
    counted++;
    return true;
  };
}

function bucket(rpm: number, size: number): Admits {
  let filled = 0;
  let seenUs = 0;
  return (atUs) => {
    filled = Math.max(0, filled - ((atUs - seenUs) * rpm) / MINUTE_US);
    seenUs = atUs;
    if (filled + 1 > size + 1e-9) return false;
    filled++;
    return true;
  };
}

/** End times of running requests, earliest first: a binary heap. */
class EndQueue {
  readonly #ends: number[] = [];

  get size(): number {
    return this.#ends.length;
  }

  add(endUs: number): void {
    const ends = this.#ends;
    let at = ends.push(endUs) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if ((ends[above] as number) <= endUs) break;
      ends[at] = ends[above] as number;
      at = above;
    }
    ends[at] = endUs;
  }

  endBefore(atUs: number): void {
    while (this.#ends.length > 0 && (this.#ends[0] as number) <= atUs) this.#take();
  }

  #take(): void {
    const ends = this.#ends;
    const last = ends.pop() as number;
    if (ends.length === 0) return;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= ends.length) break;
      const child = left + 1 < ends.length && (ends[left + 1] as number) < (ends[left] as number) ? left + 1 : left;
      if ((ends[child] as number) >= last) break;
      ends[at] = ends[child] as number;
      at = child;
    }
    ends[at] = last;
  }
}
