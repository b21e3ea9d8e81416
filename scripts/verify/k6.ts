// The real k6 and the native engine on the starter and growth tiers, against the reference gateway's own log; and the exported
// manifests against the operator's published definition, if given.
//
//   npm run build && K6_PATH=$(node scripts/k6.mjs) npm run verify k6 [-- CRD]

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv } from "ajv";
import { parse, parseAllDocuments } from "yaml";
import { isObject, member } from "../../src/core/index.ts";
import type { JudgedPhase, JudgedRun } from "../../src/record/index.ts";
import { gauntlet, startGauntlet } from "../../test/support/gauntlet.ts";
import { judgedRuns } from "../../test/support/judged-runs.ts";

const TIERS = ["starter", "growth"] as const;
const [crd = "../../test/shared/k6-operator/testruns-crd.yaml"] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "gauntlet-verify-k6-"));
const problems: string[] = [];
/** Inconclusive runs. */
let undecided = 0;

function expectSame(what: string, got: unknown, expected: unknown): void {
  const same = JSON.stringify(got) === JSON.stringify(expected);
  console.log(
    `${same ? "ok  " : "FAIL"} ${what}: ${JSON.stringify(got)}${same ? "" : `, expected ${JSON.stringify(expected)}`}`,
  );
  if (!same) problems.push(what);
}

interface Counts {
  readonly total: number;
  readonly admitted: number;
  readonly refused: Readonly<Record<string, number>>;
}

/** Runs both tiers with an engine on its own gateway. @returns the runs, and that gateway's counts. */
async function tiersWith(engine: string, more: readonly string[]) {
  await using running = startGauntlet(["gateway"]);
  const text = await running.printed(/\{"event":"ready".*\}\n/s);
  const ready = JSON.parse(text.slice(text.indexOf("{"), text.indexOf("\n", text.indexOf("{"))));
  const target = join(folder, `${engine}.yaml`);
  const tiers = TIERS.map(
    (tier) => `  ${tier}: { key: env:${tier.toUpperCase()}, second: env:${tier.toUpperCase()}_2 }\n`,
  );
  writeFileSync(
    target,
    `name: ${engine}\nbaseUrl: ${ready.baseUrl}\nkeys: { valid: env:VALID }\nmodels: { chat: echo-fast, messages: echo-fast, echo: echo-fast, stream: echo-stream }\ntiers:\n${tiers.join("")}`,
  );
  const keys = Object.fromEntries(
    TIERS.flatMap((tier) => [
      [tier.toUpperCase(), ready.tiers[tier].key],
      [`${tier.toUpperCase()}_2`, ready.tiers[tier].second],
    ]),
  );
  const out = join(folder, engine);
  const args = ["load", ...TIERS, "--brief", "--engine", engine, ...more, "--target", target, "--out", out];
  const done = await gauntlet(args, { VALID: ready.keys.valid, ...keys });
  console.log(done.stdout);
  const request = async (path: string) => {
    const response = await fetch(`${ready.adminUrl}${path}`, {
      headers: { Authorization: `Bearer ${ready.adminToken}` },
    });
    return (await response.json()) as unknown;
  };
  const counts = await Promise.all(
    TIERS.map(async (tier): Promise<Counts> => {
      const found = await fetch(`${ready.adminUrl}/keys/find`, {
        method: "POST",
        headers: { Authorization: `Bearer ${ready.adminToken}`, "Content-Type": "application/json" },
        body: JSON.stringify({ key: ready.tiers[tier].key }),
      });
      const account = member(await found.json(), "account") ?? "";
      return member(await request(`/traffic?account=${String(account)}`), "counts") as Counts;
    }),
  );
  const runs = judgedRuns(out);
  return { code: done.code, runs, counts };
}

const phaseOf = (run: JudgedRun, name: string) => run.phases.find((phase) => phase.name === name) as JudgedPhase;
const sum = (run: JudgedRun, field: "sent" | "admitted" | "denied" | "failed") =>
  run.phases.reduce((all, phase) => all + phase[field], 0);

/** What both engines must agree on exactly; latencies are only printed, because they are samples. */
function agreed(run: JudgedRun): object {
  const groups = run.retryAfter?.groups.filter(({ reason }) => reason === "rate_limit_exceeded") ?? [];
  return {
    admittedAtTheLimit: phaseOf(run, "at-rate-limit").admitted,
    deniedAtTheLimit: phaseOf(run, "at-rate-limit").denied,
    // An engine that can read responses fills it once more after the waits that denials requested.
    reachesConcurrencyLimit:
      phaseOf(run, "at-concurrency-limit")
        .classes.filter(({ stream, outcome }) => stream && outcome === "admitted")
        .reduce((all, { count }) => all + count, 0) >= (run.limits?.inFlight ?? Number.POSITIVE_INFINITY),
    retryAfterUsable: groups.every(({ denials, present, usable }) => denials === present && present === usable),
    insufficientWaits: groups.reduce((all, { insufficient }) => all + insufficient, 0),
    // A run whose own clients were early is inconclusive, and counted as such.
    forbiddenRetries: run.retryAfter?.client.forbiddenRetries,
  };
}

/** Fields of a value that a definition does not have: the cluster would drop them silently. */
function unknownFields(value: unknown, schema: unknown, at = ""): string[] {
  if (Array.isArray(value))
    return value.flatMap((item, index) => unknownFields(item, member(schema, "items"), `${at}/${index}`));
  const known = member(schema, "properties");
  if (!isObject(value) || !isObject(known)) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name in known ? unknownFields(inner, known[name], `${at}/${name}`) : [`${at}/${name}`],
  );
}

async function manifests(): Promise<void> {
  const out = join(folder, "export");
  const { code } = await gauntlet(["k6", "export", "growth", "--target", "embedded", "--instances", "3", "--out", out]);
  expectSame("export ends well", code, 0);
  if (!existsSync(crd)) {
    console.log(`the operator's definition is not at ${crd}: manifests were validated against our own schema only`);
    return;
  }
  const definition = parseAllDocuments(readFileSync(crd, "utf8"))
    .map((document): unknown => document.toJS())
    .find((one) => member(one, "kind") === "CustomResourceDefinition");
  const versions = member(member(definition, "spec"), "versions");
  const schema = member(member(Array.isArray(versions) ? versions[0] : undefined, "schema"), "openAPIV3Schema");
  const run: unknown = parse(readFileSync(join(out, "kubernetes", "testrun.yaml"), "utf8"));
  const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schema as object);
  validate(run);
  expectSame("the TestRun is what the operator's definition says", validate.errors ?? [], []);
  // `metadata` belongs to the cluster and is not described there.
  expectSame(
    "the operator knows every field",
    unknownFields(member(run, "spec"), member(member(schema, "properties"), "spec")),
    [],
  );
}

try {
  await manifests();
  // In parallel, each on its own gateway: both are mostly idle, and counts must agree, not times.
  const [k6, native] = await Promise.all([tiersWith("k6", ["--instances", "3"]), tiersWith("native", [])]);
  for (const [engine, { code, runs }] of Object.entries({ k6, native })) {
    // A busy machine leads to inconclusive results: no verdict, but the counts below must be correct all the same.
    const open = runs.filter(({ verdict }) => verdict === "inconclusive");
    for (const { name, reasons } of open)
      console.log(`open ${engine}, ${name}: ${reasons.map(({ text }) => text).join("; ")}`);
    expectSame(
      `${engine}: exit code${open.length > 0 ? " of a run with open questions" : ""}`,
      code,
      open.length > 0 ? 4 : 0,
    );
    undecided += open.length;
  }
  for (const [index, tier] of TIERS.entries()) {
    const own = k6.runs.find(({ name }) => name === tier) as JudgedRun;
    const other = native.runs.find(({ name }) => name === tier) as JudgedRun;
    const { total, admitted, refused } = k6.counts[index] as Counts;
    const denied = Object.values(refused).reduce((all, count) => all + count, 0);
    expectSame(
      `${tier}: k6 sent, admitted, denied, as the gateway's log has it`,
      [sum(own, "sent"), sum(own, "admitted"), sum(own, "denied")],
      [total, admitted, denied],
    );
    const reasons = Object.fromEntries(
      Object.keys(refused)
        .sort()
        .map((reason) => [
          reason,
          own.phases
            .flatMap(({ denials }) => denials)
            .filter((one) => one.reason === reason)
            .reduce((all, { count }) => all + count, 0),
        ]),
    );
    expectSame(
      `${tier}: denials by reason`,
      reasons,
      Object.fromEntries(Object.entries(refused).sort(([a], [b]) => (a < b ? -1 : 1))),
    );
    expectSame(`${tier}: k6 and native agree`, agreed(own), agreed(other));
    const p50 = (run: JudgedRun) =>
      phaseOf(run, "at-rate-limit").classes.map(
        ({ dialect, stream, responseMs }) =>
          `${dialect} ${stream ? "streaming" : "non-streaming"} ${responseMs?.p50} ms`,
      );
    console.log(`     response p50 at the limit: k6 ${p50(own).join(", ")}; native ${p50(other).join(", ")}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const without = undecided === 0 ? "" : `, without a verdict on ${undecided} of ${2 * TIERS.length} runs`;
console.log(problems.length === 0 ? `k6: verified${without}` : `k6: ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
