import { escapedJson } from "../src/core/index.ts";
import type { RunRecord } from "../src/record/index.ts";
import { outcomesOf } from "./outcomes.ts";

/**
 * The run as NDJSON for programs that read while it is written: `run-started`, one `outcome` each, `run-finished`. JSON escapes
 * control characters and line feeds, so each event is exactly one line whatever a gateway sent.
 */
export function renderEvents(record: RunRecord): string {
  const { runId, target, harness, startedAt, endedAt, seed } = record;
  const lines: object[] = [
    {
      event: "run-started",
      schemaVersion: record.schemaVersion,
      runId,
      at: startedAt,
      target: { name: target.name, baseUrl: target.baseUrl },
      harness,
      seed,
    },
    ...outcomesOf(record).map(({ id, suite, title, status, message, requirements, violated, layer, durationMs }) => ({
      event: "outcome",
      runId,
      id,
      suite,
      title,
      status,
      message,
      requirements,
      violated,
      layer,
      durationMs,
    })),
    {
      event: "run-finished",
      runId,
      at: endedAt,
      complete: record.complete,
      verdict: record.verdict.result,
      exitCode: record.verdict.exitCode,
      headline: record.verdict.headline,
      counts: record.counts,
    },
  ];
  return lines.map((line) => `${escapedJson(line)}\n`).join("");
}
