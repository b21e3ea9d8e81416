import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../../core/index.ts";
import { readRecord } from "../../record/index.ts";
import { RUNS_FOLDER } from "./open-target.ts";

/** Run folders that contain `file`, latest first. */
function runsWith(file: string): string[] {
  if (!existsSync(RUNS_FOLDER)) return [];
  return readdirSync(RUNS_FOLDER)
    .map((name) => join(RUNS_FOLDER, name))
    .filter((folder) => existsSync(join(folder, file)))
    .sort((a, b) => statSync(join(b, file)).mtimeMs - statSync(join(a, file)).mtimeMs);
}

/**
 * The folder of the latest run with a report.
 *
 * @throws UsageError if there is none.
 */
export function latestReport(): string {
  const [latest] = runsWith("report.html");
  if (latest !== undefined) return latest;
  throw new UsageError(`${RUNS_FOLDER} has no report`, { hint: "Name the folder of a run." });
}

/**
 * The check instances that failed in the latest conformance run of a target.
 *
 * @throws UsageError without such a run, or if nothing failed in it.
 */
export function lastFailed(targetName: string): string[] {
  for (const folder of runsWith("run.json")) {
    const { command, target, checks } = readRecord(folder);
    if (!["conform", "run"].includes(command) || target.name !== targetName) continue;
    const failed = checks.filter(({ status, suite }) => ["fail", "flaky"].includes(status) && suite !== "load");
    if (failed.length > 0) return failed.map(({ id }) => id);
    throw new UsageError(`--last-failed: no check failed in ${folder}, the latest run of ${targetName}`);
  }
  throw new UsageError(`--last-failed: ${RUNS_FOLDER} has no conformance run of ${targetName}`, {
    hint: "Run `gauntlet conform` first.",
  });
}
