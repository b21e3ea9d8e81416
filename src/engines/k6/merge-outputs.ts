import type { Observation } from "../../judging/index.ts";
import { Histogram, NO_QUANTILES, type Quantiles } from "../../metrics/index.ts";
import type { LoadInstance } from "../../record/index.ts";
import { beganMs, clockOffset } from "./clock-offset.ts";
import type { RawRequest } from "./raw-request.ts";
import type { RawOutput } from "./read-output.ts";

export interface OutputOfInstance {
  readonly name: string;
  readonly output: RawOutput;
  /** How its process ended, as text; empty if successful or unknown. */
  readonly ended: string;
}

export interface MergeOptions {
  readonly outputs: readonly OutputOfInstance[];
  /** Phase and role of each scenario. */
  readonly groups: readonly { readonly scenario: string; readonly phase: string; readonly role: string }[];
  readonly keys: readonly string[];
  /** All ran on this machine: they share a clock and need no correction. */
  readonly sameClock: boolean;
}

export interface Merged {
  /** Times are relative to the start of the whole run. */
  readonly observations: readonly Observation[];
  readonly instances: readonly LoadInstance[];
  /** Dropped arrivals by phase. */
  readonly dropped: ReadonlyMap<string, number>;
  /** Wall clock at the start of the first instance, Unix epoch milliseconds; the gateway's clock if offsets were applied. */
  readonly startedAtMs: number;
  /** Between the starts of the first and the last instance, ms. */
  readonly skewMs: number;
  /** Send time minus due time, without retries: a retry is due when its wait is over. */
  readonly scheduleLagMs: Quantiles;
}

/** Merges the raw samples of all instances onto one timeline: never percentiles, which cannot be merged. */
export function mergeOutputs({ outputs, groups, keys, sameClock }: MergeOptions): Merged {
  const placed = outputs.map(({ name, output, ended }) => {
    const offset = sameClock ? undefined : clockOffset(output.requests);
    const began = beganMs(output.requests);
    return { name, output, ended, offset, beganMs: began === undefined ? undefined : began + (offset?.offsetMs ?? 0) };
  });
  const begins = placed.flatMap((one) => one.beganMs ?? []);
  const startedAtMs = begins.length === 0 ? Date.now() : Math.min(...begins);
  const phaseOf = new Map(groups.map((group) => [group.scenario, group]));
  const lag = new Histogram();
  const observations: Observation[] = [];
  const dropped = new Map<string, number>();
  for (const { output, beganMs: began } of placed) {
    for (const raw of output.requests) {
      const group = phaseOf.get(raw.scenario);
      if (group === undefined) continue;
      if (raw.attempt === 1) lag.record((raw.sentMs - raw.dueMs) * 1_000);
      observations.push(observationOf(raw, group, keys, (began ?? startedAtMs) - startedAtMs));
    }
    for (const [scenario, count] of output.dropped) {
      const phase = phaseOf.get(scenario)?.phase ?? scenario;
      dropped.set(phase, (dropped.get(phase) ?? 0) + count);
    }
  }
  return {
    observations,
    dropped,
    startedAtMs,
    skewMs: begins.length === 0 ? 0 : Math.max(...begins) - startedAtMs,
    scheduleLagMs: lag.quantilesMs() ?? NO_QUANTILES,
    instances: placed.map(({ name, output, ended, offset }) => ({
      name,
      segment: output.segment,
      requests: output.requests.length,
      complete: output.ended && ended === "",
      ended: ended === "" ? (output.ended ? "completed" : "has no end in its output") : ended,
      clockOffsetMs: offset === undefined ? null : offset.offsetMs,
      clockUncertaintyMs: offset === undefined ? null : offset.uncertaintyMs,
    })),
  };
}

function observationOf(
  raw: RawRequest,
  { phase, role }: { readonly phase: string; readonly role: string },
  keys: readonly string[],
  shiftMs: number,
): Observation {
  const us = (ms: number) => (ms + shiftMs) * 1_000;
  return {
    phase,
    role,
    index: raw.index,
    attempt: raw.attempt,
    dialect: raw.dialect,
    stream: raw.stream,
    key: keys[raw.key] ?? "",
    outcome: raw.outcome,
    what: raw.what,
    status: raw.status === 0 ? undefined : raw.status,
    dueUs: us(raw.dueMs),
    sentUs: us(raw.sentMs),
    connectUs: raw.connectMs === 0 ? undefined : raw.connectMs * 1_000,
    // For an interrupted stream, k6 loses the status but not the first byte.
    headUs: raw.status === 0 && raw.outcome !== "unfinished" ? undefined : us(raw.sentMs + raw.firstByteMs),
    firstTokenUs: undefined,
    endUs: us(raw.sentMs + raw.totalMs),
    longestGapUs: undefined,
    tokens: raw.tokens,
    retryAfter: raw.retryAfter,
    retryAfterWaitMs: raw.retryAfterWaitMs,
    exchange: undefined,
    flaw: raw.crossed ? "crossed" : undefined,
  };
}
