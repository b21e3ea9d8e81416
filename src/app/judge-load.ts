import { CHECKS } from "../../suites/index.ts";
import { instancesOf, type ReadingRules, type RequestInfo, Response, resultOf } from "../checks/index.ts";
import { groupBy } from "../core/index.ts";
import type { Exchange } from "../http-recorder/index.ts";
import { withThresholds } from "../load/index.ts";
import type { CheckResult, JudgedLoad, JudgedPhase } from "../record/index.ts";

/** Invariants that count all the traffic of an account: samples would give counts that are too low. */
const NEED_ALL: readonly string[] = ["limits.rate-far-below", "limits.rate-any-minute", "robustness.busy-streams"];
/** Invariants about timing: load findings know when this process was stalled, samples do not. */
const TIMED: readonly string[] = ["robustness.answer-in-time", "limits.concurrency-denied-when-idle"];

const INVARIANTS = CHECKS.filter(
  ({ kind, id }) => kind === "invariant" && ![...NEED_ALL, ...TIMED].includes(id),
).flatMap(instancesOf);

/** A recorded exchange of a load, and its phase. */
export interface SampledExchange {
  readonly phase: string;
  readonly requested: RequestInfo;
  readonly exchange: Exchange;
}

/** Judges the recorded exchanges of every phase by the invariants of the suites, and each run by its thresholds. */
export function judgeLoad(load: JudgedLoad, samples: readonly SampledExchange[], rules: ReadingRules): JudgedLoad {
  const byPhase = groupBy(samples, ({ phase }) => phase);
  const responses = (phase: string) =>
    (byPhase.get(phase) ?? []).map(({ exchange, requested }) => new Response(exchange, requested, rules));
  return {
    runs: load.runs.map((run) => ({
      ...withThresholds(run),
      phases: run.phases.map((phase) => judgePhase(phase, responses(`${run.name}/${phase.name}`))),
    })),
  };
}

/** Interrupted replies are judged by load findings over all traffic: samples are a biased selection of them. */
const isCut = ({ exchange, status }: Response): boolean => exchange.ending.kind === "reset" && status !== undefined;

/** Wrong response content is wrong whether or not the generator was on time. */
function judgePhase(phase: JudgedPhase, responses: readonly Response[]): JudgedPhase {
  const whole = responses.filter((response) => !isCut(response));
  if (whole.length === 0) return phase;
  const invariants = INVARIANTS.map((instance) =>
    resultOf(instance, whole, { attestations: [], durationMs: 0 }),
  ).filter(({ status }) => status !== "inconclusive" && status !== "not-applicable");
  return { ...phase, invariants: invariants.map(withoutAll), sampled: responses.length };
}

/** A result with a few of the exchanges it was judged by: the phase lists all of them. */
function withoutAll(result: CheckResult): CheckResult {
  return { ...result, exchanges: [...new Set(result.findings.flatMap(({ exchanges }) => exchanges))].slice(0, 5) };
}
