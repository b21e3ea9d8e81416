import { sleep } from "../../../core/index.ts";
import { WINDOW_OVER_MS } from "../../../limits/index.ts";
import type { JudgedPhase } from "../../../record/index.ts";
import { temporaryLimitOf } from "../../../requirements/index.ts";
import type { LoadProgress } from "../../measure/progress.ts";
import { type Arrivals, planOf } from "../../schedule/arrivals.ts";
import { maxRequests } from "../../schedule/max-requests.ts";
import { type LoadContext, runWorkload } from "../../send/run-workload.ts";
import { DEFAULT_ALLOW, type Workload } from "../../workload/workload.ts";
import { unusableReplies } from "../judge-replies.ts";
import { type FrontierPoint, frontierOf, pointOf } from "./frontier.ts";
import { type ClauseOutcome, judgeLevel } from "./judge-level.ts";
import type { Clause } from "./objective.ts";
import { type Measured, type Searched, search } from "./search.ts";
import { HOLD_S, type SearchRange, searchPlanOf, stepSeconds } from "./search-time.ts";

export type Binds =
  | "rate limit"
  | "concurrency limit"
  | "latency"
  | "failures"
  | "invalid replies"
  | "generator"
  | "nothing"
  | "denials";

/** One step of the search. */
export interface CapacityStep extends Measured {
  readonly durationS: number;
  readonly admittedPerS: number;
  readonly outcomes: readonly ClauseOutcome[];
  readonly binds: Binds;
  readonly why: string;
  readonly point: FrontierPoint;
}

export interface CapacityPlan extends SearchRange {
  readonly mix: Workload["mix"];
  readonly clauses: readonly Clause[];
  readonly minutes: number;
  readonly onStep?: (step: CapacityStep) => void;
  /** Called when the rate window must empty before the next step, with the time that this takes, seconds. */
  readonly onRest?: (forS: number) => void;
  /** Called twice a second with the current step, and with how long the search may still take, seconds. */
  readonly onProgress?: (level: number, progress: LoadProgress, leftS: number) => void;
}

export interface Capacity extends Searched<CapacityStep> {
  /** The objective as a function of load, with intervals, at every level that the generator could send. */
  readonly frontier: readonly FrontierPoint[];
  /** The best level, held for longer than any one-minute window; `undefined` if time ran out. */
  readonly held: CapacityStep | undefined;
  readonly binds: Binds;
  readonly confidence: "high" | "medium" | "low" | "none";
  /** Why the search ended before it was complete. */
  readonly cut: "minutes" | "requests" | "interrupted" | null;
}

/** Denials after which a step is decided: continuing would only add denials. */
const MAX_CONSECUTIVE_DENIALS = 50;
/** A level that ran for this share of its planned time counts as complete. */
const MIN_COMPLETE_SHARE = 0.9;
/** If the best level could not be held, the next one is at most this share of it. */
const BELOW = 0.97;

/** Finds the highest level of load that meets the objective, and what limits it. */
export async function findCapacity(plan: CapacityPlan, context: LoadContext): Promise<Capacity> {
  const endMs = performance.now() + plan.minutes * 60_000;
  let cut: Capacity["cut"] = null;
  // Until then, a level would be denied because of what the one before it sent.
  let windowEmptyMs = 0;
  const measure = async (level: number, durationS: number): Promise<CapacityStep | undefined> => {
    const restMs = Math.max(0, windowEmptyMs - performance.now());
    const isLate = performance.now() + restMs + durationS * 1_000 > endMs;
    const lacksRequests = !fits(levelWorkload(plan, context, level, durationS), context);
    if (restMs > 0 && !isLate && !lacksRequests) {
      plan.onRest?.(restMs / 1_000);
      await sleep(restMs, context.stop);
    }
    if (context.stop.aborted || isLate || lacksRequests) {
      cut = context.stop.aborted ? "interrupted" : lacksRequests ? "requests" : "minutes";
      return undefined;
    }
    const report = (progress: LoadProgress) => plan.onProgress?.(level, progress, (endMs - performance.now()) / 1_000);
    const first = await runLevel(plan, { ...context, onProgress: report }, level, durationS);
    // Retry once: a single stall of this machine does not mean that the generator is the limit.
    const isAgain = first?.binds === "generator" && fits(levelWorkload(plan, context, level, durationS), context);
    const step = isAgain ? await runLevel(plan, { ...context, onProgress: report }, level, durationS) : first;
    // Requests of a level that was interrupted say nothing about it: Gauntlet itself ended them.
    if (step === undefined || context.stop.aborted) {
      cut = context.stop.aborted ? "interrupted" : "requests";
      return undefined;
    }
    plan.onStep?.(step);
    if (step.binds === "rate limit") windowEmptyMs = performance.now() + WINDOW_OVER_MS;
    return step;
  };
  const found = await search(searchPlanOf(plan), (level) => measure(level, stepSeconds(plan, level)));
  let { best, beyond } = found;
  const steps = [...found.steps];
  let held = best !== undefined && best.durationS >= HOLD_S ? best : undefined;
  for (let round = 0; best !== undefined && held === undefined && round < 2; round++) {
    const long: CapacityStep | undefined = await measure(best.level, HOLD_S);
    if (long === undefined) break;
    steps.push(long);
    if (long.met) held = long;
    else {
      beyond = long;
      best = nextGuess(best, long, plan.unit);
    }
  }
  const capacity = held ?? (best?.met === true ? best : undefined);
  return {
    best: capacity,
    beyond,
    steps,
    frontier: frontierOf(steps.filter(({ binds }) => binds !== "generator").map(({ point }) => point)),
    held,
    binds: bindsOf(beyond),
    confidence: confidenceOf(capacity, held, beyond),
    cut,
  };
}

/**
 * The level to hold after one that could not be held: less is admitted in the long run than for a moment. It has not been sent
 * yet, so it has met nothing.
 */
export function nextGuess<T extends Pick<CapacityStep, "level" | "met">>(
  best: T,
  missed: Pick<CapacityStep, "admittedPerS">,
  unit: CapacityPlan["unit"],
): T {
  const below = unit === "rate" ? missed.admittedPerS * BELOW : best.level - 1;
  return { ...best, met: false, level: Math.min(best.level * BELOW, below) };
}

function bindsOf(beyond: CapacityStep | undefined): Binds {
  return beyond?.binds ?? "nothing";
}

function confidenceOf(
  best: CapacityStep | undefined,
  held: CapacityStep | undefined,
  beyond: CapacityStep | undefined,
): Capacity["confidence"] {
  if (best === undefined) return "none";
  const sure = (held ?? best).outcomes.every((outcome) => outcome.sure);
  if (held === undefined) return "low";
  return sure && beyond !== undefined ? "high" : "medium";
}

/** A closed loop is only started if the budget has this many requests per stream. */
const MIN_PER_STREAM = 2;

/** Whether the budget has room for a level. A closed loop may start with less, and stops when the budget is used up. */
function fits(workload: Workload, { budget }: LoadContext): boolean {
  const { arrivals } = workload;
  const inFlight = arrivals && planOf(arrivals).inFlight;
  const needed = inFlight === undefined ? maxRequests(workload) : inFlight * MIN_PER_STREAM;
  return budget.left().requests >= needed;
}

function levelWorkload(
  { unit, mix }: CapacityPlan,
  { budget }: Pick<LoadContext, "budget">,
  level: number,
  durationS: number,
): Workload {
  const closed = { kind: "closed", inFlight: level, durationS, rampS: Math.min(1, durationS / 4) } as const;
  const bare = { warmupS: 0, retryAfter: "none" } as const;
  const arrivals: Arrivals =
    unit === "rate"
      ? { kind: "constant", ratePerS: level, durationS }
      : { ...closed, requests: Math.min(budget.left().requests, maxRequests({ ...bare, arrivals: closed })) };
  return {
    name: "capacity",
    arrivals,
    mix,
    ...bare,
    engine: "native",
    allow: { ...DEFAULT_ALLOW, deniedShare: 1, failedShare: 1 },
    written: null,
  };
}

/** @returns `undefined` if the budget ended it: an interrupted closed loop says nothing about its level. */
async function runLevel(
  plan: CapacityPlan,
  context: LoadContext,
  level: number,
  durationS: number,
): Promise<CapacityStep | undefined> {
  const workload = levelWorkload(plan, context, level, durationS);
  const isUnusable = new AbortController();
  const stop = AbortSignal.any([context.stop, isUnusable.signal]);
  const { run, histograms } = await runWorkload(workload, {
    ...context,
    stop,
    onProgress: (progress) => {
      context.onProgress?.(progress);
      if (progress.denied > MAX_CONSECUTIVE_DENIALS) isUnusable.abort();
    },
  });
  const [phase] = run.phases as [JudgedPhase];
  if (context.budget.left().requests === 0 && phase.durationS < durationS * MIN_COMPLETE_SHARE) return undefined;
  const outcomes = judgeLevel(plan.clauses, phase, histograms);
  const unusable = unusableReplies(phase);
  const { binds, why } =
    unusable !== undefined
      ? { binds: "invalid replies" as const, why: unusable }
      : run.generator.valid
        ? reasonOf(outcomes, phase)
        : { binds: "generator" as const, why: run.generator.problems.join("; ") };
  const met = binds === "nothing";
  const isJudged = unusable === undefined && run.generator.valid;
  const clauses = plan.clauses.map((clause) => ({
    ...clause,
    met: isJudged ? outcomes.some((outcome) => outcome.clause === clause.text && outcome.met) : null,
  }));
  return {
    level,
    met,
    point: pointOf({ level, met, ...(unusable === undefined ? {} : { unusable }) }, clauses, phase),
    durationS: phase.durationS,
    admittedPerS: phase.rates.admitted,
    outcomes,
    binds,
    why,
  };
}

/** The limiting factor: a limit that denies takes precedence over other missed objectives. */
function reasonOf(
  outcomes: readonly ClauseOutcome[],
  phase: JudgedPhase,
): { readonly binds: Binds; readonly why: string } {
  const missed = outcomes.filter(({ met }) => !met);
  const most = [...phase.denials].sort((a, b) => b.count - a.count)[0];
  const why = missed.map((outcome) => missText(outcome, most?.reason ?? "no reason")).join("; ");
  if (missed.length === 0) return { binds: "nothing", why };
  if (missed.some(({ clause }) => clause.startsWith("denied"))) {
    const limit = temporaryLimitOf(most?.reason);
    return { binds: limit === undefined ? "denials" : `${limit} limit`, why };
  }
  if (missed.some(({ clause }) => clause.startsWith("dropped"))) return { binds: "latency", why };
  return { binds: missed.some(({ clause }) => clause.startsWith("failed")) ? "failures" : "latency", why };
}

/** A missed clause: `ttft_ms p99 < 800: 951.7 ms; …`, `53.37 % of 549 requests were denied: concurrency_limit_exceeded`. */
function missText({ clause, observed }: ClauseOutcome, reason: string): string {
  if (clause.startsWith("denied")) return `${observed} requests were denied: ${reason}`;
  if (clause.startsWith("dropped")) return `${observed} requests were dropped`;
  return clause.startsWith("failed") ? `${observed} requests failed` : `${clause}: ${observed}`;
}
