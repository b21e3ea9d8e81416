import type { RunRecord, Status } from "../../src/record/index.ts";
import { passage } from "../clean-text.ts";
import { type Outcome, outcomesOf } from "../outcomes.ts";

type Word = "passed" | "failed" | "skipped" | "pending" | "other";

/** Undecided results are `other`, never `skipped`: readers count skipped results as good. */
const WORDS: Readonly<Record<Status, Word>> = {
  "harness-error": "failed",
  fail: "failed",
  flaky: "failed",
  blocked: "other",
  inconclusive: "other",
  warn: "passed",
  pass: "passed",
  observed: "passed",
  "not-applicable": "skipped",
};

const LONGEST = 8_000;

/**
 * The run in the Common Test Report Format, version 0.0.0 of its schema.
 * @see https://ctrf.io
 */
export function renderCtrf(record: RunRecord): string {
  const outcomes = outcomesOf(record);
  const decided: Word =
    record.verdict.result === "pass" ? "passed" : record.verdict.result === "fail" ? "failed" : "other";
  const verdict = {
    name: "verdict",
    suite: ["gauntlet"],
    status: decided,
    rawStatus: record.verdict.result,
    duration: 0,
    message: clean(record.verdict.headline),
  };
  const tests = [verdict, ...outcomes.map((outcome) => testOf(outcome))];
  const count = (word: Word) => tests.filter(({ status }) => status === word).length;
  const start = Date.parse(record.startedAt);
  const document = {
    reportFormat: "CTRF",
    specVersion: "0.0.0",
    runId: record.runId,
    timestamp: record.endedAt,
    generatedBy: `${record.harness.name} ${record.harness.version}`,
    results: {
      tool: { name: record.harness.name, version: record.harness.version },
      summary: {
        tests: tests.length,
        passed: count("passed"),
        failed: count("failed"),
        skipped: count("skipped"),
        pending: 0,
        other: count("other"),
        flaky: outcomes.filter(({ status }) => status === "flaky").length,
        suites: new Set(tests.map(({ suite }) => suite[0])).size,
        start,
        stop: start + Math.round(record.durationMs),
        duration: Math.round(record.durationMs),
        extra: { verdict: record.verdict.result, exitCode: record.verdict.exitCode, complete: record.complete },
      },
      environment: {
        appName: clean(record.target.name),
        ...(record.target.build === undefined ? {} : { appVersion: clean(record.target.build) }),
        osPlatform: record.environment.platform,
        testEnvironment: clean(record.target.baseUrl),
        extra: { configurationSha256: record.configuration.sha256, seed: record.seed },
      },
      tests,
    },
  };
  return `${JSON.stringify(document, null, 1)}\n`;
}

function testOf(outcome: Outcome) {
  const quiet = outcome.status === "pass";
  const uncounted = outcome.waived ?? outcome.notRequired;
  return {
    name: clean(outcome.id),
    suite: [clean(outcome.suite)],
    status: uncounted === undefined ? WORDS[outcome.status] : ("skipped" as const),
    rawStatus: outcome.status,
    duration: Math.round(outcome.durationMs),
    ...(quiet ? {} : { message: clean([uncounted ?? [], outcome.message].flat().join("; ")) }),
    ...(outcome.detail.length === 0 ? {} : { trace: clean(outcome.detail.join("\n")) }),
    ...(outcome.status === "flaky" ? { flaky: true } : {}),
    tags: [outcome.layer, ...outcome.requirements],
    extra: { title: clean(outcome.title), violated: [...outcome.violated] },
  };
}

function clean(text: string): string {
  return passage(text, LONGEST);
}
