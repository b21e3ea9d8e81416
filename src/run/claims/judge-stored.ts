import { CHECKS } from "../../../suites/index.ts";
import { coverageOf } from "../../checks/index.ts";
import { UsageError } from "../../core/index.ts";
import { judgeProfiles } from "../../policy/index.ts";
import { type CheckResult, type ProfileResult, type RunRecord, readRun, type StoredRun } from "../../record/index.ts";
import { requirementSet } from "../journal/index.ts";
import { judgeAgain } from "../judge/index.ts";
import { settle } from "../record/index.ts";
import { declaredIn } from "./declared-in.ts";

/** A stored run whose recording was judged again. */
export interface JudgedRecord {
  readonly record: RunRecord;
  readonly claimed: NonNullable<RunRecord["claimed"]>;
  readonly results: readonly CheckResult[];
  readonly profiles: readonly ProfileResult[];
}

/**
 * Judges the recording of a run again, with the built-in checks: custom suites say nothing about profiles. Results of loads
 * (`load.*`) have no recording, and are taken from `run.json` as they are; so are those of blocked checks.
 *
 * @throws UsageError if the folder has no finished conformance run with profiles, or if its recording gives other results than
 * `run.json` states: one of them was changed, or another version judged it.
 */
export function judgeStored(dir: string): JudgedRecord {
  const stored = readRun(dir);
  const { record } = stored;
  const { claimed, waivers = [], unscored = [], startedAt, harness } = record;
  if (claimed === undefined) {
    throw new UsageError(`the run in ${dir} chose no profile, so there is nothing to claim`, {
      hint: "Run again with --profile, or list `profiles` in the target file.",
    });
  }
  if (record.requirementSet.sha256 !== requirementSet().sha256) {
    throw new UsageError(`the run in ${dir} was judged by another requirement set than this program has`, {
      hint: `Use the version that made it: ${buildText(harness)}.`,
    });
  }
  const context = { ...claimed, instances: coverageOf(CHECKS) };
  const terms = { waivers, unscored, checks: CHECKS, profiles: context, today: new Date(startedAt) };
  const { results } = settle(judgeAgain(stored, CHECKS, dir), terms);
  const profiles = judgeProfiles(results, context);
  const difference = differenceOf(stored, { results, profiles, instances: context.instances });
  if (difference !== undefined) {
    throw new UsageError(`run.json of ${dir} does not match its recording: ${difference}`, {
      hint: `One of them was changed, or another version judged it. The run was made with ${buildText(harness)}.`,
    });
  }
  return { record, claimed, results, profiles };
}

const buildText = ({ version, commit }: RunRecord["harness"]): string =>
  commit === undefined ? `version ${version}` : `version ${version}, commit ${commit}`;

/** The fields that decide, without message texts: those may have been redacted in the record. */
const comparableOf = ({ status, violated, findings, waived }: CheckResult): string =>
  JSON.stringify([
    status,
    violated,
    findings.map(({ requirements, outcome, weight, count, exchanges }) => [
      requirements,
      outcome,
      weight,
      count,
      exchanges,
    ]),
    waived !== undefined,
  ]);

const comparableOfProfile = ({ name, version, sha256, claimed, result, causes, requirements }: ProfileResult): string =>
  JSON.stringify([
    [name, version, sha256, claimed, result, causes],
    requirements.map(({ id, level, result: one, checks, met, exchange, control }) => [
      [id, level, one, checks, met],
      [exchange, control],
    ]),
  ]);

/** What the recording of a run gives. */
interface Computed extends Pick<JudgedRecord, "results" | "profiles"> {
  readonly instances: readonly { readonly id: string }[];
}

function differenceOf(
  { record, recordings }: StoredRun,
  { results, profiles, instances }: Computed,
): string | undefined {
  const { checks, profiles: stated = [] } = record;
  const declared = differenceOfDeclared(record);
  if (declared !== undefined) return declared;
  for (const [index, result] of results.entries()) {
    const before = checks[index];
    if (before === undefined || comparableOf(before) !== comparableOf(result))
      return `${result.id} is recorded as ${before?.status ?? "missing"}, but judged as ${result.status}`;
  }
  for (const [index, profile] of profiles.entries()) {
    const before = stated[index];
    if (before === undefined || comparableOfProfile(before) !== comparableOfProfile(profile))
      return `profile ${profile.name} is recorded as ${before?.result ?? "missing"}, but judged as ${profile.result}`;
  }
  if (stated.length !== profiles.length) return "it has profiles that do not exist";
  const listed = new Set(checks.map(({ id }) => id));
  const removed = instances.find(({ id }) => recordings.has(id) && !listed.has(id));
  if (removed !== undefined) return `${removed.id} was recorded but has no result`;
  return undefined;
}

/** A gateway that Gauntlet started has no target file: only the program itself declares its optional parts. */
function differenceOfDeclared({ claimed, configuration, target }: RunRecord): string | undefined {
  if (target.source === "embedded") return undefined;
  const [stated, written] = [[...(claimed?.declared ?? [])].sort(), declaredIn(configuration.value)];
  if (JSON.stringify(stated) === JSON.stringify(written)) return undefined;
  const listText = (parts: readonly string[]) => parts.join(", ") || "nothing";
  return `the record says that the target declares ${listText(stated)}, but its target file declares ${listText(written)}`;
}
