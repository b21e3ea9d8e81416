import type { Observation } from "../../judging/index.ts";
import { mayCountDenied, waitsOf } from "../../limits/index.ts";
import type { Finding, JudgedPhase, JudgedRun, LoadGenerator, LoadInstance } from "../../record/index.ts";
import type { Limits, Target } from "../../target/index.ts";
import { judgeReplies } from "../analysis/judge-replies.ts";
import { endedByThreshold, judgeStop, judgeTotals, totalsQuestions } from "../analysis/judge-totals.ts";
import { phaseRecord } from "../measure/phase-record.ts";
import { runRecord } from "../measure/run-record.ts";
import type { LoadStop } from "../send/load-guard.ts";
import type { RanLoad } from "../send/run-workload.ts";
import { RARE } from "../tier/judge/judge-common.ts";
import { judgeDenials } from "../tier/judge/judge-denials.ts";
import { judgeAdmission, judgeService } from "../tier/judge/judge-service.ts";
import { NO_STALLS } from "../tier/judge/own-stalls.ts";
import { retryFigures } from "../tier/judge/retry-figures.ts";
import { OVER_THE_LIMIT } from "../tier/over-rate-limit.ts";
import { judgeOwnClients, type RecoveryScript } from "../tier/recovery.ts";
import type { TierPhase } from "../tier/tier-phase.ts";
import { TIER_PHASES } from "../tier/tier-phases.ts";
import type { Workload } from "../workload/workload.ts";
import { clientsOf } from "./clients-of.ts";
import { fillTally, lastEndUs } from "./fill-tally.ts";
import type { LoadPlan } from "./phase-plan.ts";

export interface ExternalRun {
  readonly workload: Pick<Workload, "name" | "written" | "retryAfter" | "allow">;
  /** Limits of a tier run; `null` for plain load. */
  readonly limits: Limits | null;
  readonly target: Pick<Target, "headers" | "contract">;
  readonly plan: LoadPlan;
  /** Times are relative to the start of the run. */
  readonly observations: readonly Observation[];
  /** Arrivals that the engine dropped, by phase. */
  readonly dropped: ReadonlyMap<string, number>;
  readonly engine: JudgedRun["engine"];
  readonly instances: readonly LoadInstance[];
  readonly generator: LoadGenerator;
  readonly keys: readonly string[];
  readonly startedAtMs: number;
  readonly interrupted: boolean;
  /** Why the run was stopped, if it did not end as planned. */
  readonly stop?: LoadStop | undefined;
}

/** What other engines do not measure: gaps and first tokens of streams, complete texts, their own stalls. */
const NOT_MEASURED = ["answers.incomplete", "latency.stalls", "streams.stall", "streams.buffered"];

interface TierJudged {
  readonly limits: Limits;
  readonly script: RecoveryScript;
}

function phaseOf(name: string): TierPhase | undefined {
  return TIER_PHASES.find((phase) => phase.name === name);
}

/** Judges a phase of a tier run as if we had sent it. */
function judgeTierPhase(
  name: string,
  own: readonly Observation[],
  { observations, plan, target }: ExternalRun,
  { limits, script }: TierJudged,
): Finding[] {
  const fixed = phaseOf(name)?.fixed;
  // Pauses of another engine are not measured. A pause as long as a slowdown makes the engine late, which shows in its lag.
  const latency = { all: observations, heldUp: NO_STALLS, originUs: 0 };
  const judged = { all: observations, limits, script, latency };
  return [
    ...judgeAdmission(own),
    ...((own.length > 0 && fixed?.judge?.(own, judged)) || []),
    ...(fixed?.judgeClients?.(own, judged) ?? []),
    ...judgeDenials(own, target as Target),
    ...serviceOf(own, observations, name === plan.phases.at(-1)?.name),
  ];
}

/** Creates the record of a run that another engine sent, with the same judges as for our own. */
export function judgeExternal(run: ExternalRun): RanLoad {
  const { workload, limits, plan, observations, generator, startedAtMs } = run;
  const script = scriptOf(run);
  const { fleet, waits } = script;
  const histograms: RanLoad["histograms"][number][] = [];
  // If we stopped the run, nothing is missing.
  const missing = run.stop === undefined ? missingOf(run) : [];
  const played = plan.phases.filter(
    ({ name }) => observations.some(({ phase }) => phase === name) || missing.length > 0,
  );
  const last = played.at(-1)?.name;
  const phases = played.map(({ name, title, startMs, endMs }): JudgedPhase => {
    const own = observations.filter(({ phase }) => phase === name);
    const dropped = run.dropped.get(name) ?? 0;
    const { tally, outcomes, peakInFlight } = fillTally(own, startMs * 1_000, dropped);
    const findings =
      limits === null
        ? judgeTotals(workload, { ...tally.total, ...outcomes.close() })
        : [
            ...judgeReplies("service", { admitted: tally.total.admitted, ...outcomes.close() }, workload.allow),
            ...judgeTierPhase(name, own, run, { limits, script }),
          ];
    // Without any response, compliant clients prove nothing, least of all about the gateway.
    const hasResponses = tally.total.admitted + tally.total.denied > 0;
    const rules = limits === null && hasResponses && fleet !== undefined ? [judgeOwnClients(fleet)] : [];
    const durationS = Math.max(endMs * 1_000, lastEndUs(own)) / 1_000_000 - startMs / 1_000;
    histograms.push(...tally.histograms(`${workload.name}.${name}`, startedAtMs + startMs, startedAtMs + endMs));
    return phaseRecord({
      name,
      title,
      tally,
      outcomes,
      startS: startMs / 1_000,
      durationS,
      peakInFlight,
      connections: 0,
      findings: [...(name === last ? judgeStop(run.stop) : []), ...findings, ...rules],
      questions: limits === null ? totalsQuestions(workload) : (phaseOf(name)?.questions ?? []),
    });
  });
  const ofWorkload =
    limits === null ? { clients: workload.retryAfter, fleet: null } : { clients: "compliant" as const };
  return {
    run: runRecord({
      name: workload.name,
      kind: limits === null ? "workload" : "tier",
      engine: run.engine,
      phases,
      missing,
      limits,
      keys: run.keys,
      workload: workload.written,
      startedAtMs,
      durationS: Math.max(lastEndUs(observations) / 1_000_000, 0),
      retryAfter: fleet === undefined ? null : { ...retryFigures(observations, waits, script, 0), ...ofWorkload },
      generator,
      instances: [...run.instances],
      ...endedByThreshold(run.stop),
    }),
    histograms,
  };
}

/** The behaviour of the clients that retry. */
function scriptOf({ observations, plan, limits }: ExternalRun): RecoveryScript {
  const retried = observations.filter(({ phase, role }) => plan.groups.some((group) => isRetried(group, phase, role)));
  const fleet = retried.length === 0 ? undefined : clientsOf(retried);
  const loaded = observations.filter(({ phase }) => phase === OVER_THE_LIMIT);
  const deniedCount = limits !== null && mayCountDenied(loaded, limits.rpm);
  return {
    waits: waitsOf(fleet?.attempts ?? [], observations, { deniedCount }),
    fleet,
    fleetStartUs: retried.reduce((first, { sentUs }) => Math.min(first, sentUs), retried[0]?.sentUs ?? 0),
    fleetEndUs: lastEndUs(retried),
  };
}

/** What is rare in each phase is judged in the last one, over the whole run. */
function serviceOf(own: readonly Observation[], all: readonly Observation[], isLast: boolean): Finding[] {
  const judge = (observations: readonly Observation[]) =>
    judgeService(observations, { durationMs: 0, longestGapMs: 0, spread: {} }, NO_STALLS).filter(
      ({ name }) => !NOT_MEASURED.includes(name),
    );
  const common = judge(own).filter(({ name }) => !RARE.includes(name));
  return isLast ? [...common, ...judge(all).filter(({ name }) => RARE.includes(name))] : common;
}

function isRetried(group: LoadPlan["groups"][number], phase: string, role: string): boolean {
  return group.retryAfter !== "none" && group.phase === phase && group.role === role;
}

/** What is missing from the run, as text. */
function missingOf({ instances, interrupted }: ExternalRun): string[] {
  const cut = instances.filter(({ complete }) => !complete);
  const observed = cut.map(
    ({ name, segment, ended, requests }) =>
      `${name}${segment === "" ? "" : ` (segment ${segment})`} ${ended}: what it did not send or report after ${requests} requests is missing`,
  );
  return interrupted ? ["interrupted", ...observed] : observed;
}
