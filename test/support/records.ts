import type { JsonValue } from "../../src/core/index.ts";
import { causesOf, type FindingFacts, finding } from "../../src/judging/index.ts";
import {
  type CheckResult,
  type Comparison,
  checksOfLoad,
  countStatuses,
  type Finding,
  figuresOfLoad,
  type JudgedLoad,
  type ResponseFacts,
  type RunRecord,
  runRecordSchema,
  type Status,
} from "../../src/record/index.ts";
import { REQUIREMENTS } from "../../src/requirements/index.ts";

/** A broken finding, by default for a requirement that every version knows. */
export function broken({ outcome, count, ...overrides }: FindingOverrides = {}): Finding {
  const made = finding({
    requirements: ["AUTH-3"],
    met: false,
    expected: value(401),
    observed: value(403),
    pointer: "status",
    exchanges: ["x00001"],
    ...overrides,
  });
  return { ...made, ...(outcome === undefined ? {} : { outcome }), ...(count === undefined ? {} : { count }) };
}

type FindingOverrides = Partial<FindingFacts> & Partial<Pick<Finding, "outcome" | "count">>;

export function met(overrides: FindingOverrides = {}): Finding {
  return broken({ met: true, observed: value(401), ...overrides });
}

/** An observed or expected value. */
export const value = (of: JsonValue): { kind: "value"; value: JsonValue } => ({ kind: "value", value: of });
export const ABSENT = { kind: "absent" } as const;

/** A response in short: `403 invalid_api_key`. */
export function facts(short: string): ResponseFacts {
  const [status = "", reason] = short.split(" ");
  return { status: Number(status), ...(reason === undefined ? {} : { reason }) };
}

export function result(id: string, status: Status, overrides: Partial<CheckResult> = {}): CheckResult {
  const check = id.replace(/\[.*$/, "");
  const findings = status === "fail" ? [broken()] : status === "pass" ? [met()] : [];
  return {
    id,
    check,
    suite: check.split(".")[0] ?? check,
    title: `What ${check} is about`,
    layer: "specification",
    axes: {},
    status,
    requirements: ["AUTH-3"],
    violated: status === "fail" ? ["AUTH-3"] : [],
    message: `${status} for a reason`,
    findings,
    attestations: [{ state: "key.valid", by: "asserted" }],
    unblock: status === "blocked" ? ["keys:", "  revoked: env:GW_REVOKED"] : [],
    exchanges: ["x00001"],
    durationMs: 12.5,
    ...overrides,
  };
}

/** A complete record around some results; if it does not match the schema, the test that made it is wrong. */
export function recordOf(
  ownChecks: readonly CheckResult[],
  { load, ...overrides }: Omit<Partial<RunRecord>, "load"> & { readonly load?: JudgedLoad | undefined } = {},
): RunRecord {
  const checks = [...ownChecks, ...checksOfLoad(load)];
  const counts = countStatuses(checks.map(({ status }) => status));
  const result =
    counts.fail + counts.flaky > 0
      ? "fail"
      : counts["harness-error"] > 0
        ? "error"
        : counts.blocked + counts.inconclusive > 0 || counts.pass + counts.warn === 0
          ? "inconclusive"
          : "pass";
  return runRecordSchema.parse({
    schemaVersion: 1,
    runId: "0123456789abcdef",
    command: "conform",
    startedAt: "2026-11-21T12:00:00.000Z",
    endedAt: "2026-11-21T12:01:02.500Z",
    durationMs: 62_500,
    complete: true,
    harness: { name: "gateway-gauntlet", version: "0.1.0" },
    requirementSet: { version: "1", sha256: "0".repeat(64) },
    target: {
      name: "staging",
      baseUrl: "https://gw.example.test/v1",
      source: "gauntlet.yaml",
      reading: { reasonHeader: "X-Service-Error-Code", actionHeader: "X-Service-Action" },
    },
    configuration: { value: { keys: { valid: "env:GW_KEY" } }, sha256: "1".repeat(64) },
    environment: { node: "v20.20.2", platform: "linux x64", cpuModel: "CPU", cpus: 2, memoryBytes: 8e9 },
    seed: 7,
    verdict: {
      result,
      exitCode: { pass: 0, fail: 1, inconclusive: 4, error: 5 }[result],
      headline: `${result.toUpperCase()}: staging`,
      reasons: checks
        .filter(({ status }) => !["pass", "warn", "observed", "not-applicable"].includes(status))
        .map(({ id, status, message }) => ({ kind: "checks", text: `${status}: ${message}`, check: id })),
      qualifiers: [],
    },
    counts,
    requirements: REQUIREMENTS.map((requirement) => ({ ...requirement })),
    checks,
    causes: causesOf(checks),
    traffic: { requests: 1_234, note: "Attempts may be missing from the history." },
    ...(load === undefined ? {} : { load: figuresOfLoad(load) }),
    ...overrides,
  });
}

/** An exchange as a line of `exchanges.ndjson.gz`. */
export function exchangeLine(id: string, overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    requested: { endpoint: "chat", mode: "non-streaming", intent: "denied" },
    exchange: {
      id,
      startedAtMs: 1_795_000_000_000,
      key: "valid",
      request: {
        method: "POST",
        url: "https://gw.example.test/v1/chat/completions",
        headers: [
          ["Authorization", "Bearer [key.valid]****"],
          ["Content-Type", "application/json"],
        ],
        body: '{"model":"m","messages":[]}',
        bodyBytes: 27,
      },
      connection: { id: "c1", earlier: 0 },
      timeline: { dueUs: 1_000, sentUs: 2_000, firstByteUs: 5_000, headersUs: 5_000, endUs: 9_000 },
      ending: { kind: "complete" },
      response: {
        status: 403,
        headers: [
          ["Content-Type", "application/json"],
          ["X-Request-Id", "req-1"],
        ],
        interim: [],
        trailers: [],
        body: { bytes: 9, receivedBytes: 9, pieces: [[8_000, 9]], text: '{"e":"x"}' },
      },
      redactions: [],
      ...overrides,
    },
  };
}

/** The reasons of a comparison, without their statuses. */
export function textsOf({ reasons }: Pick<Comparison, "reasons">): string[] {
  return reasons.map(({ text }) => text);
}
