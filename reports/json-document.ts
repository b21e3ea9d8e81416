import type { RunRecord } from "../src/record/index.ts";

/** What `--json` prints: the verdict first, then a line per check. The whole record stands in the run folder. */
export function jsonDocument(record: RunRecord, folder: string): object {
  return {
    schemaVersion: record.schemaVersion,
    verdict: record.verdict.word,
    exitCode: record.verdict.exitCode,
    headline: record.verdict.headline,
    counts: record.counts,
    runId: record.runId,
    folder,
    target: { name: record.target.name, baseUrl: record.target.baseUrl },
    reasons: record.verdict.reasons,
    causes: record.causes,
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
