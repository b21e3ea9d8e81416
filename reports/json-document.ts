import type { RunRecord } from "../src/record/index.ts";
import { unblockYaml } from "./unblock.ts";

/** What `--json` prints: the verdict first, then a line per check. The full record is in the run folder. */
export function jsonDocument(record: RunRecord, folder: string): object {
  const blocked = record.checks.filter(({ status }) => status === "blocked");
  return {
    schemaVersion: record.schemaVersion,
    /** Only if profiles were chosen. */
    ...(record.profiles === undefined ? {} : { profiles: record.profiles }),
    verdict: record.verdict.result,
    exitCode: record.verdict.exitCode,
    headline: record.verdict.headline,
    counts: record.counts,
    runId: record.runId,
    folder,
    target: { name: record.target.name, baseUrl: record.target.baseUrl },
    reasons: record.verdict.reasons,
    causes: record.causes,
    /** Sections of the target file that would unblock the blocked checks. */
    unblock: unblockYaml(blocked, record.configuration.value) ?? null,
    checks: record.checks.map(
      ({ id, status, requirements, violated, message, layer, title, suite, axes, findings, unblock, exchanges }) => ({
        id,
        status,
        requirements,
        violated,
        message,
        layer,
        title,
        suite,
        axes,
        findings,
        unblock,
        exchanges,
      }),
    ),
  };
}
