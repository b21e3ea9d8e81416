import { setImmediate as nextTurn } from "node:timers/promises";
import { CHECKS } from "../../../suites/index.ts";
import {
  instancesOf,
  ReadingCache,
  type ReadingRules,
  type RequestInfo,
  Response,
  resultOf,
} from "../../checks/index.ts";
import { groupBy } from "../../core/index.ts";
import type { Exchange } from "../../http/recorder/index.ts";
import { withEvents, withThresholds } from "../../load/index.ts";
import type { CheckResult, JudgedLoad, JudgedPhase } from "../../record/index.ts";
import type { Interruption } from "../control/index.ts";

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

/** How long after a signal samples are still judged, ms: the reports are written after that. */
const JUDGED_MS = 700;

/**
 * Judges the recorded exchanges of every phase by the invariants of the suites, and each run by its thresholds.
 *
 * @param interruption of the run. After a signal, only some of the invariants are judged: an interrupted run cannot pass.
 */
export async function judgeLoad(
  load: JudgedLoad,
  samples: readonly SampledExchange[],
  rules: ReadingRules,
  interruption?: Interruption,
): Promise<JudgedLoad> {
  const isLate = () => (interruption?.sinceMs() ?? 0) > JUDGED_MS;
  const reading = { ...rules, cache: new ReadingCache() };
  const byPhase = groupBy(samples, ({ phase }) => phase);
  const responses = (phase: string) =>
    (byPhase.get(phase) ?? []).map(({ exchange, requested }) => new Response(exchange, requested, reading));
  const runs: JudgedLoad["runs"] = [];
  for (const run of load.runs) {
    const phases: JudgedPhase[] = [];
    for (const phase of run.phases)
      phases.push(await judgePhase(phase, responses(`${run.name}/${phase.name}`), isLate));
    runs.push({ ...withEvents(withThresholds(run)), phases });
  }
  return { runs };
}

/** Interrupted replies are judged by load findings over all traffic: samples are a biased selection of them. */
const isCut = ({ exchange, status }: Response): boolean => exchange.ending.kind === "reset" && status !== undefined;

/** Wrong response content is wrong whether or not the generator was on time. */
async function judgePhase(
  phase: JudgedPhase,
  responses: readonly Response[],
  isLate: () => boolean,
): Promise<JudgedPhase> {
  const whole = responses.filter((response) => !isCut(response));
  if (whole.length === 0) return phase;
  const invariants: CheckResult[] = [];
  for (const instance of INVARIANTS) {
    // Each takes a while over long responses, and a signal must not wait for all of them.
    await nextTurn();
    if (isLate()) break;
    const result = resultOf(instance, whole, { attestations: [], durationMs: 0 });
    if (result.status !== "inconclusive" && result.status !== "not-applicable") invariants.push(withoutAll(result));
  }
  return { ...phase, invariants, sampled: responses.length };
}

/** A result with a few of the exchanges it was judged by: the phase lists all of them. */
function withoutAll(result: CheckResult): CheckResult {
  return { ...result, exchanges: [...new Set(result.findings.flatMap(({ exchanges }) => exchanges))].slice(0, 5) };
}
