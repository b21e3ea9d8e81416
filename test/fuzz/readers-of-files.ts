import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { stringify } from "yaml";
import { FORMATS } from "../../reports/index.ts";
import { loadWaivers } from "../../src/checks/index.ts";
import { GauntletError } from "../../src/core/index.ts";
import { readOutput } from "../../src/engines/index.ts";
import { loadWorkload, parseObjective } from "../../src/load/index.ts";
import { parseBaseline, policySchema } from "../../src/policy/index.ts";
import { parseThreshold } from "../../src/policy/threshold.ts";
import { readRun, runRecordSchema } from "../../src/record/index.ts";
import { readOrRecover } from "../../src/run/record/recover-record.ts";
import { parseTarget, readYaml } from "../../src/target/index.ts";
import { temporaryFolder } from "../support/gauntlet.ts";
import { zipped } from "../support/run-files.ts";
import { SAMPLES } from "../support/sample-records.ts";
import { edited } from "./arbitraries.ts";
import { must, type Property, property } from "./property.ts";

const SECRET = "ck-fuzz-0123456789abcdefXY";
const ENVIRONMENT = { K: SECRET };

const TARGET = {
  name: "staging",
  baseUrl: "https://gw.example.test/v1",
  headers: { reason: "X-Reason", version: "anthropic-version", versionValue: "2023-06-01" },
  extraHeaders: { all: { "X-A": "b" } },
  contract: { reasonFrom: "/error/type", denials: { invalid_api_key: { status: 403, reason: ["a", "b"] } } },
  keys: { valid: "env:K", second: "env:K" },
  models: { chat: "a", stream: { chat: "b", messages: "c" } },
  limits: { rpm: 10, inFlight: 2 },
  limited: [{ key: "env:K", limits: "starter" }],
  tiers: { growth: { key: "env:K" } },
  skip: { "key.revoked": "none" },
  compat: { chat: "openai" },
  budget: { requests: 10 },
  timeouts: { responseS: 1 },
};
const WAIVERS = {
  waivers: [
    {
      ...{ checks: ["a[chat]"], reason: "r", owner: "o", expires: "2027-01-01" },
      ...{ fingerprint: "0123456789ab", magnitudes: { "AUTH-3": 1 } },
    },
  ],
};
const WORKLOAD = {
  name: "w",
  arrivals: { kind: "steps", steps: [{ ratePerS: 1, durationS: 1 }] },
  mix: [{ dialect: "chat", weight: 1 }],
  allow: { deniedShare: 0.1 },
};
const POLICY = {
  gates: ["ttft_ms{stream=true} p99 < 800", { gate: "failed_share < 0.01", level: "warn", why: "w" }],
  require: { suites: ["auth"], requirements: ["AUTH-1"], level: "error" },
  compat: "warn",
  load: ["starter"],
  baseline: "b.json",
};

/** Text that is almost a valid file: edited, truncated, or with something foreign in it. */
function fileLike(original: unknown): fc.Arbitrary<string> {
  const written = edited(original).map((value) => stringify(value) ?? "");
  const strange = fc.constantFrom(
    "",
    "&a [*a]",
    "a: &x [*x, *x]\n",
    "\t- :",
    "%YAML 9",
    "!!js/function x",
    "? : :",
    "\0",
    "\u2028",
    "<<: *a",
    "- ".repeat(200),
    "[".repeat(300),
  );
  return fc.oneof(
    written,
    fc.tuple(written, fc.nat(500), strange).map(([text, at, odd]) => text.slice(0, at) + odd + text.slice(at)),
    fc.string({ unit: "binary", maxLength: 200 }),
  );
}

/** Whatever an operator's file contains, the error is one of ours and never quotes a key. */
function complains(act: () => unknown): void {
  try {
    act();
  } catch (error) {
    must(
      error instanceof GauntletError,
      `not one of ours: ${error instanceof Error ? (error.stack ?? error.message) : error}`,
    );
    must(!(error as Error).message.includes(SECRET), "the key is quoted");
  }
}

function withFile(name: string, text: string, act: (path: string) => unknown): void {
  using folder = temporaryFolder();
  const path = join(folder.path, name);
  writeFileSync(path, text);
  complains(() => act(path));
}

const SAMPLE = Object.values(SAMPLES)[0];
const FIELDS =
  "1|load_0|messages|stream|denied|rate_limit_exceeded|429|17|2|1|1000.500|1001.250|1795276049619|0.100|12.000|12.500|7|7000|Sat%2C%2021%20Nov%202026%2015%3A47%3A29%20GMT|0||req_1";
/** In the format of k6 1.8.1. */
const K6_LINES = [
  `{"metric":"gauntlet_request","type":"Point","data":{"time":"2026-11-21T15:47:29.6Z","value":12.5,"tags":{"scenario":"load_0"},"metadata":{"g":"${FIELDS}"}}}`,
  '{"metric":"gauntlet_instance","type":"Point","data":{"value":1,"metadata":{"g":"1|begun|1%2F3%3A2%2F3"}}}',
  '{"metric":"dropped_iterations","type":"Point","data":{"value":3,"tags":{"scenario":"load_0"}}}',
  "metric_name,timestamp,metric_value,scenario,extra_tags,metadata",
  "gauntlet_instance,1795276052,1.000000,,event=begun,g=1|begun|%E0%A4%A",
  `gauntlet_request,1795276052,12.500000,load_0,"dialect=messages&reason=a,b",g=${FIELDS}`,
  "dropped_iterations,1795276052,3.000000,load_0,,",
];

/** Readers of files: targets, waivers, policies, workloads, raw outputs of k6, stored runs. */
export const READERS_OF_FILES: readonly Property[] = [
  property("target files", [fileLike(TARGET)], (text) => complains(() => parseTarget(text, "t.yaml", ENVIRONMENT)), 4),
  property("waiver files", [fileLike(WAIVERS)], (text) => withFile("waivers.yaml", text, loadWaivers), 4),
  property("policy files", [fileLike(POLICY)], (text) => complains(() => readYaml(text, "p.yaml", policySchema)), 4),
  property("workload files", [fileLike(WORKLOAD)], (text) => withFile("workload.yaml", text, loadWorkload), 4),
  property(
    "threshold strings",
    [
      fc
        .array(
          fc.oneof(
            fc.constantFrom(
              "ttft_ms",
              "failed_share",
              "{",
              "}",
              "stream=true",
              ",",
              "p99",
              "p",
              "<",
              "<=",
              ">",
              "==",
              "800",
              "1e999",
              "baseline",
              "*",
              "1.1",
              "+",
              "5",
              " ",
              "-",
            ),
            fc.string({ maxLength: 5 }),
          ),
          { maxLength: 12 },
        )
        .map((parts) => parts.join("")),
    ],
    (text) => {
      const read = parseThreshold(text);
      must(
        typeof read === "string" || read.bound.kind === "baseline" || Number.isFinite(read.bound.value),
        `no bound: ${text}`,
      );
    },
  ),
  property(
    "objectives of a capacity",
    [
      fc.oneof(
        fc.string(),
        fc.constantFrom("ttft_ms p99 < 800, failed < 0.1%", "failed < 1e9%", "toString p50 < 1", ",,,"),
      ),
    ],
    (text) => complains(() => parseObjective(text)),
  ),
  property(
    "baselines",
    [
      fc.oneof(
        fc.json(),
        edited({ schemaVersion: 1, conformance: { from: {}, checks: {} }, performance: [] }).map(
          (value) => JSON.stringify(value) ?? "",
        ),
      ),
    ],
    (text) => complains(() => parseBaseline(text, "b.json")),
  ),
  property(
    "raw outputs of k6",
    [
      fc.array(
        fc.oneof(
          fc.constantFrom(...K6_LINES),
          fc.json(),
          fc.tuple(fc.constantFrom(...K6_LINES), fc.nat(300)).map(([line, at]) => line.slice(0, at)),
        ),
        { maxLength: 20 },
      ),
      fc.constantFrom("o.json", "o.csv", "o.json.gz"),
    ],
    async (lines, name) => {
      using folder = temporaryFolder();
      const path = join(folder.path, name);
      writeFileSync(path, lines.join("\n"));
      await readOutput(path).catch((error: unknown) =>
        must(error instanceof GauntletError, `not one of ours: ${error}`),
      );
    },
  ),
  property(
    "stored records that were edited by hand",
    [edited(SAMPLE)],
    (record) => {
      using folder = temporaryFolder();
      mkdirSync(join(folder.path, "exchanges"));
      writeFileSync(join(folder.path, "run.json"), JSON.stringify(record) ?? "");
      complains(() => {
        const read = readOrRecover(folder.path);
        for (const format of Object.values(FORMATS)) format({ record: read, evidence: () => undefined }, "single");
      });
    },
    10,
  ),
  property(
    "journals and recordings that were edited by hand",
    [
      fc.array(fc.oneof(journalLine(), fc.json(), fc.string({ maxLength: 30 })), { maxLength: 12 }),
      fc.array(fc.json(), { maxLength: 5 }),
      fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), damage: fc.uint8Array({ maxLength: 40 }) }),
    ],
    (lines, others, { at, damage }) => {
      using folder = temporaryFolder();
      mkdirSync(join(folder.path, "exchanges"));
      const keep = (name: string, bytes: Buffer) => writeFileSync(join(folder.path, `${name}.ndjson.gz`), bytes);
      const damaged = zipped(others);
      damaged.set(damage.subarray(0, damaged.length), Math.floor(at * Math.max(0, damaged.length - damage.length)));
      keep("journal", zipped(lines));
      keep(join("exchanges", "recordings"), zipped(others));
      keep(join("exchanges", "exchanges"), damaged);
      complains(() => {
        const { record } = readRun(folder.path, readOrRecover);
        must(runRecordSchema.safeParse(record).success, "what is recovered is a record");
        must(record.verdict.result !== "pass", "a truncated run does not pass");
        for (const format of Object.values(FORMATS)) format({ record, evidence: () => undefined }, "single");
      });
    },
    20,
  ),
];

/** Lines as runs write them, with one value replaced. */
function journalLine(): fc.Arbitrary<string> {
  const head = SAMPLE && {
    schemaVersion: SAMPLE.schemaVersion,
    runId: SAMPLE.runId,
    command: SAMPLE.command,
    startedAt: SAMPLE.startedAt,
    harness: SAMPLE.harness,
    requirementSet: SAMPLE.requirementSet,
    target: SAMPLE.target,
    configuration: SAMPLE.configuration,
    environment: SAMPLE.environment,
    seed: SAMPLE.seed,
  };
  const at = "2026-01-01T00:00:00.000Z";
  const lines = [
    { at, event: "started", run: head, qualifiers: [], checks: SAMPLE?.checks ?? [], waivers: [], unscored: [] },
    ...(SAMPLE?.checks ?? [])
      .slice(0, 3)
      .map((result) => ({ at, event: "check-finished", check: result.id, round: 0, result })),
    { at, event: "load-started", runs: [{ name: "small", kind: "workload", engine: "native", workload: {} }] },
    {
      at,
      event: "load-progress",
      run: "small",
      phase: "small",
      elapsedS: 1,
      inFlight: 3,
      counts: { offered: 3, sent: 3, admitted: 1, denied: 1, failed: 1, dropped: 0 },
      responseByModeMs: { streaming: null, nonStreaming: { p50: 1, p95: 2, p99: 2 } },
    },
  ];
  const whole = fc.constantFrom(...lines);
  return fc
    .oneof(
      whole,
      whole,
      whole.chain((line) => edited(line)),
    )
    .map((line) => JSON.stringify(line) ?? "null");
}
