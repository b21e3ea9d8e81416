import type { Observation } from "../../judging/index.ts";
import type { RetryAfterWait } from "../../limits/index.ts";
import type { Finding } from "../../record/index.ts";
import type { Limits } from "../../target/index.ts";
import type { PlannedGroup, PlannedRequest } from "../external/phase-plan.ts";
import type { LatencyJudged } from "./judge/judge-latency.ts";
import type { OwnStalls } from "./judge/own-stalls.ts";
import type { RecoveryScript } from "./recovery.ts";
import type { TierBench } from "./tier-bench.ts";

/**
 * `thorough`: waits for a Retry-After of a whole minute with nothing else in flight. `brief`: for a shorter one. `quick`: no
 * overload at all.
 */
export type TierLength = "thorough" | "brief" | "quick";

/** What the phases of a run share. */
export interface TierParts {
  readonly bench: TierBench;
  readonly own: OwnStalls;
  /** Tested Retry-After waits, by the limit that denied. */
  readonly waits: { readonly rate: RetryAfterWait[]; readonly concurrency: RetryAfterWait[] };
  readonly recovery: RecoveryScript;
  readonly length: TierLength;
  readonly seed: number;
}

export interface PhaseCost {
  /** Maximum number of requests. */
  readonly requests: number;
  /** Its part of the duration that the plan announces. */
  readonly durationS: number;
  /** Duration that progress expects. */
  readonly expectedS: number;
}

/** A group of requests of a fixed phase. */
export type PhaseGroup = Pick<PlannedGroup, "role" | "arrivals" | "requests"> &
  Partial<PlannedGroup> & {
    /** From the start of the phase, ms; default 0. */
    readonly afterMs?: number;
  };

export interface FixedFacts {
  readonly limits: Limits;
  /** Interval of requests at the rate limit, ms. */
  readonly everyMs: number;
  /** One request of every kind, and the streams of the long model. */
  readonly short: readonly PlannedRequest[];
  readonly long: readonly PlannedRequest[];
  readonly thorough: boolean;
}

export interface FixedJudged {
  /** All observations of the run. */
  readonly all: readonly Observation[];
  readonly limits: Limits;
  readonly script: RecoveryScript;
  readonly latency: LatencyJudged;
}

/** A phase for an engine that executes a fixed schedule and cannot react to what happened before. */
export interface FixedPhase {
  /** Title if the fixed schedule tests less than the adaptive phase. */
  readonly title?: string;
  /** It starts no earlier than this in the run, ms. */
  readonly notBeforeMs?: number;
  plan(facts: FixedFacts): { readonly durationMs: number; readonly groups: readonly PhaseGroup[] };
  /** Not called if the engine sent nothing. */
  judge?(observations: readonly Observation[], judged: FixedJudged): Finding[];
  /** Judges clients that retry. Called even if none was started. */
  judgeClients?(observations: readonly Observation[], judged: FixedJudged): Finding[];
}

/** Everything about one phase of a tier run. The list is in `tier-phases.ts`. */
export interface TierPhase {
  readonly name: string;
  readonly title: string;
  /** Omitted by quick runs: the overload, and what follows it. */
  readonly omittedByQuick?: true;
  /** Findings that must be decided before the phase can pass. An undecided one makes it inconclusive. */
  readonly questions: readonly string[];
  /** Further findings, which can only be decided by a run that reacts to each response. */
  readonly adaptiveQuestions?: readonly string[];
  cost(limits: Limits, length: TierLength): PhaseCost;
  /** Sends the phase's requests. */
  act(parts: TierParts): Promise<void>;
  /**
   * Judges what it sent, in pieces: concurrent tiers keep sending, and a long synchronous judgement would stall all of them.
   */
  judge(observations: readonly Observation[], parts: TierParts): Iterable<readonly Finding[]>;
  readonly fixed: FixedPhase;
}

/** Requests of a fixed phase, all at once. */
export function atOnce(count: number): PlannedGroup["arrivals"] {
  return { kind: "at-once", count };
}

/** Requests of a fixed phase, evenly spaced. */
export function evenly(count: number, everyMs: number): PlannedGroup["arrivals"] {
  return { kind: "even", count, everyMs };
}
