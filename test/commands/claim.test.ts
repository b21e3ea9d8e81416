import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { coverageOf } from "../../src/checks/index.ts";
import { type Claim, claimText } from "../../src/claims/index.ts";
import { judgeProfiles } from "../../src/policy/index.ts";
import type { RunRecord } from "../../src/record/index.ts";
import { composeClaim } from "../../src/run/claims/index.ts";
import { CHECKS } from "../../suites/index.ts";
import { declaring } from "../support/claims.ts";
import { gauntlet, temporaryFolder } from "../support/gauntlet.ts";

type Json = Record<string, unknown>;

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

/** A run of a gateway that meets chat and violates what streaming requires. */
const run = join(folder.path, "run");
let claim: Claim;

const recordOf = (dir: string): Json => JSON.parse(readFileSync(join(dir, "run.json"), "utf8"));
const writeRecord = (dir: string, record: Json) => writeFileSync(join(dir, "run.json"), JSON.stringify(record));

/** Changes the record of a run as another build of the harness would have written it. */
function withRecord(dir: string, change: (record: Json) => Json): string {
  writeRecord(dir, change(recordOf(dir)));
  return dir;
}

function copyOf(name: string): string {
  const copy = join(folder.path, name.replaceAll(/\W+/g, "-"));
  cpSync(run, copy, { recursive: true });
  return copy;
}

const CLEAN = { name: "gateway-gauntlet", version: "0.1.0", commit: "a".repeat(40), dirty: false };

beforeAll(async () => {
  const profiles = ["--profile", "chat", "--profile", "streaming"];
  const args = ["conform", "service", "chat", "streaming", "--target", "embedded", ...profiles];
  const { stdout, stderr } = await gauntlet([...args, "--mutation", "stream.cut-after-a-second", "--out", run]);
  expect(stdout + stderr).toContain("chat: conformant · streaming: not conformant (");
  // The tests run while the sources change, and the program was built from them.
  withRecord(run, (record) => ({ ...record, harness: CLEAN }));
  claim = composeClaim(run);
});

test("a claim states the gateway, the harness, the results and where they come from", async () => {
  expect(claim).toMatchObject({
    schemaVersion: 1,
    gateway: {
      name: "embedded reference gateway with stream.cut-after-a-second",
      version: `0.1.0, commit ${CLEAN.commit}`,
      startedWith: "gauntlet gateway --mutation stream.cut-after-a-second",
    },
    harness: CLEAN,
    limitations: [],
    waivers: [],
  });
  const result = (name: string) => claim.profiles.find((profile) => profile.name === name)?.result;
  expect([result("chat"), result("streaming"), result("money")]).toEqual([
    "conformant",
    "not-conformant",
    "not-claimed",
  ]);
  expect(claim.reproduce).toMatch(/^gauntlet conform service chat streaming .*--mutation .* --seed \d+$/);
  expect(claim.record.files.map(({ name }) => name)).toEqual([
    "run.json",
    "exchanges/exchanges.ndjson.gz",
    "exchanges/recordings.ndjson.gz",
  ]);
  const broken = claim.profiles.flatMap(({ requirements }) => requirements.filter((one) => one.result === "broken"));
  const shown = new Set(claim.exchanges.map(({ id }) => id));
  expect(broken.length).toBeGreaterThan(0);
  expect(broken.every(({ exchange }) => exchange === undefined || shown.has(exchange))).toBe(true);
});

test("the exchanges of a claim do not depend on the causes that run.json lists", () => {
  const without = composeClaim(withRecord(copyOf("without causes"), (record) => ({ ...record, causes: [] })));
  expect(claim.exchanges.length).toBeGreaterThan(0);
  expect(without.exchanges).toEqual(claim.exchanges);
  expect(without.profiles).toEqual(claim.profiles);
});

test("a claim matches its published schema, which has an address", () => {
  const schema = JSON.parse(readFileSync("schemas/claim.schema.json", "utf8"));
  expect(schema.$id).toMatch(/schemas\/claim\.schema\.json$/);
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const validate = ajv.compile(schema);
  expect([validate(JSON.parse(claimText(claim))), validate.errors]).toEqual([true, null]);
  expect(validate({ ...claim, extra: 1 })).toBe(false);
});

test("a claim is written and verified, and the same run always gives the same bytes", async () => {
  const copy = copyOf("verified");
  const written = await gauntlet(["report", copy, "--format", "claim"]);
  const path = join(copy, "claim.json");
  expect(written).toMatchObject({ code: 0, stdout: `${path}\n` });
  expect(readFileSync(path, "utf8")).toBe(claimText(claim));
  expect((await gauntlet(["report", copy, "--print", "claim"])).stdout).toBe(claimText(claim));
  const { code, stdout } = await gauntlet(["verify-claim", path, "--record", copy]);
  expect([code, stdout]).toEqual([0, expect.stringContaining("VERIFIED: ")]);
});

/** Changes a file of compressed lines. */
function gzipLines(path: string, change: (text: string) => string): void {
  const member = gzipSync(change(gunzipSync(readFileSync(path)).toString("utf8")));
  // The reader only takes members that name no operating system, as the run folder writes them.
  member[9] = 0xff;
  writeFileSync(path, member);
}

const edited = (change: (claim: Claim) => object) => () => JSON.stringify(change(claim), null, 1).concat("\n");
const withResult =
  (result: string) =>
  ({ profiles, ...rest }: Claim) => ({
    ...rest,
    profiles: profiles.map((one) => (one.name === "streaming" ? { ...one, result } : one)),
  });

/** A run.json in which the violation of streaming never happened. */
function whitewashed(record: Json): Json {
  const checks = record["checks"] as { status: string; violated: string[]; findings: Json[] }[];
  return {
    ...record,
    checks: checks.map((check) =>
      check.status !== "fail" && check.status !== "warn"
        ? check
        : {
            ...check,
            status: "pass",
            violated: [],
            findings: check.findings.map((finding) => ({ ...finding, outcome: "met", weight: "fail" })),
          },
    ),
    profiles: (record["profiles"] as Json[]).map((profile) =>
      profile["name"] === "streaming" ? { ...profile, result: "conformant", causes: 0 } : profile,
    ),
  };
}

/** A run.json that lacks the checks that failed, with the profiles that follow from the others. */
function withoutFailures(record: Json): Json {
  const { checks, claimed } = record as unknown as RunRecord;
  const kept = checks.filter(({ status }) => status !== "fail" && status !== "warn");
  const context = { profiles: [], declared: [], ...claimed, instances: coverageOf(CHECKS) };
  return { ...record, checks: kept, profiles: judgeProfiles(kept, context) };
}

/** A record as of a gateway with this target file, which declares what the record states. */
const withTargetFile = (record: Json, written: Json): Json => ({
  ...record,
  target: { ...(record["target"] as Json), source: "gauntlet.yaml" },
  configuration: {
    ...(record["configuration"] as Json),
    value: { ...declaring((record["claimed"] as { declared: string[] }).declared), ...written },
  },
});

describe("a claim is rejected", () => {
  test.each<[string, (dir: string) => string, RegExp]>([
    [
      "with another result of a profile",
      edited(withResult("conformant")),
      /\/profiles\/\d+\/result: the claim has "conf/,
    ],
    [
      "with another result of a requirement",
      edited(({ profiles, ...rest }) => ({
        ...rest,
        profiles: profiles.map((profile) => ({
          ...profile,
          requirements: profile.requirements.map((one) => (one.result === "broken" ? { ...one, result: "met" } : one)),
        })),
      })),
      /\/requirements\/\d+\/result/,
    ],
    [
      "without a violated requirement",
      edited(({ profiles, ...rest }) => ({
        ...rest,
        profiles: profiles.map((profile) => ({
          ...profile,
          requirements: profile.requirements.filter(({ result }) => result !== "broken"),
        })),
      })),
      /\/profiles\/\d+\/requirements\/\d+/,
    ],
    [
      "for another version of the gateway",
      edited((one) => ({ ...one, gateway: { ...one.gateway, version: "2" } })),
      /\/gateway\/version/,
    ],
    [
      "for a gateway started otherwise",
      edited((one) => ({ ...one, gateway: { ...one.gateway, startedWith: "gw" } })),
      /\/gateway\/startedWith/,
    ],
    [
      "by another harness",
      edited((one) => ({ ...one, harness: { ...one.harness, commit: "b".repeat(40) } })),
      /\/harness\/commit/,
    ],
    [
      "with a hidden contract",
      edited((one) => ({ ...one, reading: { ...one.reading, reasonHeader: "X-Other" } })),
      /\/reading\/reasonHeader/,
    ],
    [
      "with another date",
      edited((one) => ({ ...one, run: { ...one.run, startedAt: "2030-01-01T00:00:00.000Z" } })),
      /\/run\/startedAt/,
    ],
    ["with another command", edited((one) => ({ ...one, reproduce: "gauntlet conform chat" })), /\/reproduce/],
    [
      "of another profile set",
      edited((one) => ({ ...one, profiles: one.profiles.map((p) => ({ ...p, sha256: "0".repeat(64) })) })),
      /\/profiles\/0\/sha256/,
    ],
    ["written with other spaces", () => JSON.stringify(claim), /written differently/],
    [
      "after a byte of the record changed",
      (dir) => {
        writeFileSync(join(dir, "run.json"), ` ${readFileSync(join(dir, "run.json"), "utf8")}`);
        return claimText(claim);
      },
      /\/record\/sha256/,
    ],
    [
      "after the record was whitewashed",
      (dir) => {
        withRecord(dir, whitewashed);
        return claimText(claim);
      },
      /run\.json of .* does not match its recording: .* is recorded as pass, but judged as (fail|warn)/,
    ],
    [
      "with a record whitewashed to match, digests included",
      (dir) => {
        withRecord(dir, whitewashed);
        return edited(withResult("conformant"))();
      },
      /does not match its recording/,
    ],
    [
      "after responses were changed",
      (dir) => {
        gzipLines(join(dir, "exchanges", "exchanges.ndjson.gz"), (text) =>
          text.replaceAll('"status":200', '"status":500'),
        );
        return claimText(claim);
      },
      /\/record\/sha256|does not match its recording/,
    ],
    [
      "after a recording was removed",
      (dir) => {
        gzipLines(join(dir, "exchanges", "recordings.ndjson.gz"), (text) => text.split("\n").slice(1).join("\n"));
        return claimText(claim);
      },
      /lacks the recording of /,
    ],
    [
      "after a failed check was removed from the record",
      (dir) => {
        withRecord(dir, (record) => ({
          ...record,
          checks: (record["checks"] as Json[]).filter(({ status }) => status === "pass" || status === "observed"),
        }));
        return claimText(claim);
      },
      /profile streaming is recorded as not-conformant, but judged as partial/,
    ],
    [
      "after failed checks were removed from the record, and its profiles changed to match",
      (dir) => {
        withRecord(dir, withoutFailures);
        return claimText(claim);
      },
      /stream\S+ was recorded but has no result/,
    ],
    [
      "after the record states that the target declares less",
      (dir) => {
        withRecord(dir, (record) => {
          const { profiles } = record["claimed"] as { profiles: string[] };
          return { ...withTargetFile(record, {}), claimed: { profiles, declared: [] } };
        });
        return claimText(claim);
      },
      /the record says that the target declares nothing, but its target file declares dialects\.both, /,
    ],
    [
      "with the record of another run",
      (dir) => {
        withRecord(dir, (record) => ({ ...record, runId: "f".repeat(16) }));
        return claimText(claim);
      },
      /\/run\/id/,
    ],
  ])("%s", async (name, tamper, why) => {
    const copy = copyOf(name);
    const path = join(copy, "claim.json");
    writeFileSync(path, tamper(copy));
    const { code, stdout, stderr } = await gauntlet(["verify-claim", path, "--record", copy]);
    expect([code, stderr]).toEqual([1, ""]);
    expect(stdout).toMatch(/^REJECTED: /);
    expect(stdout).toMatch(why);
  });
});

describe("a claim says what keeps it from being conformant", () => {
  test.each<[string, (record: Json) => Json, RegExp]>([
    ["a dirty build", (record) => ({ ...record, harness: { ...CLEAN, dirty: true } }), /uncommitted changes/],
    [
      "a build of unknown origin",
      (record) => ({ ...record, harness: { name: CLEAN.name, version: CLEAN.version } }),
      /does not name the commit/,
    ],
    ["a run that ended early", (record) => ({ ...record, complete: false }), /ended early/],
    [
      "a gateway without a version",
      (record) => withTargetFile(record, {}),
      /does not state the version of the gateway/,
    ],
  ])("%s", (name, change, why) => {
    const { limitations, profiles } = composeClaim(withRecord(copyOf(name), change));
    expect(limitations.join("\n")).toMatch(why);
    expect(profiles.map(({ result }) => result)).not.toContain("conformant");
    // What is violated stays violated.
    expect(profiles.find((profile) => profile.name === "streaming")?.result).toBe("not-conformant");
  });

  test("a version and a start command that the target file states", () => {
    const gateway = { version: "1.2.3", startedWith: "docker run gw:1.2.3" };
    const copy = withRecord(copyOf("stated version"), (record) => withTargetFile(record, { gateway }));
    expect(composeClaim(copy)).toMatchObject({ gateway, limitations: [] });
  });

  test("a waiver, and a busy machine", async () => {
    const only = ["--only", "chat.minimal", "--mutation", "chat.usage-missing", "--profile", "chat"];
    const args = ["conform", "--target", "embedded", ...only];
    const failing = join(folder.path, "failing");
    expect((await gauntlet([...args, "--out", failing])).code).toBe(1);
    const suggested = await gauntlet(["waivers", "suggest", failing]);
    const waivers = join(folder.path, "waivers.yaml");
    const filledIn = suggested.stdout.replaceAll('reason: ""', "reason: known").replaceAll('owner: ""', "owner: gw");
    writeFileSync(waivers, filledIn);
    const waived = join(folder.path, "waived");
    await gauntlet([...args, "--waivers", waivers, "--out", waived]);
    const found = composeClaim(waived);
    expect(found.waivers.map(({ check }) => check)).toContain("chat.minimal[plain]");
    expect(found.limitations.join("\n")).toMatch(/^waived: chat\.minimal/m);
    const chat = found.profiles.find(({ name }) => name === "chat");
    expect([chat?.result, chat?.requirements.find(({ id }) => id === "CHAT-3")?.result]).toEqual(["partial", "waived"]);

    const busy = { kind: "machine-busy", problems: ["p99 lag 72 ms"] };
    const slow = composeClaim(
      withRecord(copyOf("busy"), (record) => ({
        ...record,
        checks: [
          ...(record["checks"] as Json[]),
          {
            ...(record["checks"] as Json[])[0],
            id: "load.w",
            findings: [],
            exchanges: [],
            status: "inconclusive",
            reason: busy,
          },
        ],
      })),
    );
    expect(slow.limitations).toEqual(["the machine was too busy to send on time: load.w"]);
    expect(slow.profiles.map(({ result }) => result)).not.toContain("conformant");
  });
});

test.each<[string, string[], RegExp]>([
  [
    "a run without profiles",
    ["report", "PLAIN", "--format", "claim"],
    /chose no profile[\s\S]*Run again with --profile/,
  ],
  ["a file that is not a claim", ["verify-claim", "RUN/run.json", "--record", "RUN"], /is not a claim:\n {2}\/kind: /],
  ["a file that does not exist", ["verify-claim", "RUN/none.json", "--record", "RUN"], /none\.json cannot be read/],
  [
    "a folder without a run",
    ["verify-claim", "RUN/claim.json", "--record", "EMPTY"],
    /holds no run|no such|not a run/i,
  ],
])("%s is a usage error with exit code 2", async (name, args, why) => {
  const copy = copyOf(name);
  writeFileSync(join(copy, "claim.json"), claimText(claim));
  const plain = withRecord(copyOf(`${name} plain`), ({ claimed: _c, profiles: _p, ...record }) => record);
  const words = args.map((word) => word.replace("RUN", copy).replace("PLAIN", plain).replace("EMPTY", folder.path));
  const { code, stderr } = await gauntlet(words);
  expect(code).toBe(2);
  expect(stderr).toMatch(why);
});
