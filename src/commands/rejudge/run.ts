import { describeExitCode, reasonLines } from "../../../reports/index.ts";
import { type Check, instancesOf, mergeRounds, ReadingCache, Response, resultOf, thaw } from "../../checks/index.ts";
import { type ClientRun, judgeScenario, SCENARIOS } from "../../client-conformance/index.ts";
import { isObject, UsageError } from "../../core/index.ts";
import { causesOf } from "../../judging/index.ts";
import { decide } from "../../policy/index.ts";
import { type CheckResult, countStatuses, EXCHANGES, RECORDINGS, readRun, type StoredRun } from "../../record/index.ts";
import type { Outcome } from "../../run/control/index.ts";
import { isExchangeLine, readOrRecover, settle, truncatedFile } from "../../run/record/index.ts";
import { checksWith } from "../../run/suites/index.ts";

export interface RejudgeOptions {
  readonly dir: string;
  /** Modules with custom suites, as given to the run. */
  readonly suite?: readonly string[];
}

/** Judges a stored run again from its recording. Sends nothing. */
export async function rejudge({ dir, suite = [] }: RejudgeOptions): Promise<Outcome> {
  const checks = await checksWith(suite);
  const stored = readRun(dir, readOrRecover);
  const { record } = stored;
  if (record.overhead !== undefined) {
    throw new UsageError("a measurement of overhead has no recording that could be judged again", {
      hint: "Its figures are in run.json and in its report.",
    });
  }
  const judged = record.command === "client" ? rejudgeClient(stored, dir) : rejudgeChecks(stored, checks, dir);
  const { waivers = [], unscored = [] } = record;
  const { results, breaches } = settle(judged, { waivers, unscored, checks, today: new Date(record.startedAt) });
  const changed = results.flatMap((result, index) => {
    const before = record.checks[index];
    return before !== undefined && before.status !== result.status
      ? [{ id: result.id, before: before.status, now: result.status }]
      : [];
  });
  const verdict = decide(results, {
    targetName: record.target.name,
    baseUrl: record.command === "client" ? undefined : record.target.baseUrl,
    qualifiers: record.verdict.qualifiers,
    cutOff: record.complete ? undefined : (cutOffReasonOf(record) ?? "the run was cut off"),
    breaches: breaches.map(({ kind, check, text }) => ({ text: `waiver ${kind}: ${text}`, check })),
  });
  const causes = causesOf(results);
  return {
    exitCode: verdict.exitCode,
    document: {
      schemaVersion: record.schemaVersion,
      verdict: verdict.result,
      exitCode: verdict.exitCode,
      counts: countStatuses(results.map(({ status }) => status)),
      changed,
      causes,
      checks: results.map(({ id, status, requirements, violated, message, reason }) => ({
        id,
        status,
        requirements,
        violated,
        message,
        ...(reason === undefined ? {} : { reason }),
      })),
    },
    text: () =>
      [
        ...changed.map(({ id, before, now }) => `${id}: ${before} → ${now}`),
        `${results.length} check instances judged again, ${changed.length} changed`,
        verdict.headline,
        ...reasonLines(verdict),
        describeExitCode(verdict.exitCode, results),
        "",
      ].join("\n"),
  };
}

/** Why a run ended early. */
const cutOffReasonOf = ({ verdict }: StoredRun["record"]): string | undefined =>
  verdict.reasons.find(({ kind }) => kind === "run")?.text;

/** Judges every recorded check again. */
function rejudgeChecks(
  { record, exchanges, recordings }: StoredRun,
  checks: readonly Check[],
  dir: string,
): CheckResult[] {
  const reading = { ...record.target.reading, cache: new ReadingCache() };
  const responses = new Map(
    exchanges
      .filter(isExchangeLine)
      .map(({ requested, exchange }) => [exchange.id, new Response(exchange, requested, reading)]),
  );
  const responseOf = (id: string): Response => {
    const response = responses.get(id);
    if (response === undefined) throw truncatedFile(dir, EXCHANGES, `exchange ${id}, to which a recording refers`);
    return response;
  };
  const instances = new Map(checks.flatMap(instancesOf).map((instance) => [instance.id, instance]));
  return record.checks.map((before): CheckResult => {
    const instance = instances.get(before.id);
    const recorded = recordings.get(before.id) ?? [];
    const isMissing = recorded.every((recording) => recording === undefined);
    if (instance !== undefined && isMissing && record.complete && wasJudged(before))
      throw truncatedFile(dir, RECORDINGS, `the recording of ${before.id}, which was judged`);
    // Results without a recording (blocked, interrupted) cannot be judged again and stay as they were.
    if (instance === undefined || isMissing) return before;
    const { rounds = [before], waived: _, ...facts } = before;
    return mergeRounds(
      rounds.map(({ status, message }, round) => {
        const recording = recorded[round];
        if (recording === undefined) return { ...facts, status, message, rounds: undefined };
        return resultOf(instance, thaw(recording, responseOf), before);
      }),
    );
  });
}

/** Whether a result was judged from a recording. */
function wasJudged({ findings, exchanges }: CheckResult): boolean {
  return findings.length > 0 || exchanges.length > 0;
}

/** Judges the recorded runs of a client again. If the run was interrupted, results without a recording stay unchanged. */
function rejudgeClient({ record, recordings }: StoredRun, dir: string): CheckResult[] {
  const configuration = record.configuration.value;
  const maxAttempts = isObject(configuration) ? configuration["mostAttempts"] : undefined;
  return record.checks.map((before) => {
    const scenario = SCENARIOS.find(({ name }) => before.id === `client.${name}`);
    const [runs] = recordings.get(before.id) ?? [];
    if (scenario !== undefined && runs === undefined && record.complete)
      throw truncatedFile(dir, RECORDINGS, `the recording of ${before.id}`);
    if (scenario === undefined || runs === undefined || typeof maxAttempts !== "number") return before;
    // Written by this program, in the same shape as in memory.
    return judgeScenario(scenario, runs as unknown as readonly ClientRun[], { mostAttempts: maxAttempts });
  });
}
