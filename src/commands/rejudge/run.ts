import { describeExitCode, describeProfiles, reasonLines } from "../../../reports/index.ts";
import { coverageOf } from "../../checks/index.ts";
import { type ClientRun, judgeScenario, SCENARIOS } from "../../client-conformance/index.ts";
import { isObject, UsageError } from "../../core/index.ts";
import { causesOf } from "../../judging/index.ts";
import { decideWithProfiles } from "../../policy/index.ts";
import { type CheckResult, countStatuses, RECORDINGS, readRun, type StoredRun } from "../../record/index.ts";
import type { Outcome } from "../../run/control/index.ts";
import { judgeAgain } from "../../run/judge/index.ts";
import { readOrRecover, settle, truncatedFile } from "../../run/record/index.ts";
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
  const judged = record.command === "client" ? rejudgeClient(stored, dir) : judgeAgain(stored, checks, dir);
  const { waivers = [], unscored = [], claimed } = record;
  const context = claimed && { ...claimed, instances: coverageOf(checks) };
  const terms = { waivers, unscored, checks, profiles: context, today: new Date(record.startedAt) };
  const { results, breaches } = settle(judged, terms);
  const changed = results.flatMap((result, index) => {
    const before = record.checks[index];
    return before !== undefined && before.status !== result.status
      ? [{ id: result.id, before: before.status, now: result.status }]
      : [];
  });
  const { verdict, profiles } = decideWithProfiles(results, context, {
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
      ...(profiles === undefined ? {} : { profiles }),
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
        ...(profiles === undefined ? [] : [describeProfiles(profiles)]),
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
