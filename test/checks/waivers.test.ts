import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { applyWaivers, fingerprintOf, loadWaivers, suggestWaivers } from "../../src/checks/index.ts";
import { atLeast, atMost, Verdict } from "../../src/judging/index.ts";
import type { CheckResult, Finding, Waiver } from "../../src/record/index.ts";
import { temporaryFolder } from "../support/gauntlet.ts";
import { ABSENT, broken as brokenFinding, value } from "../support/records.ts";

const broken = (more: Parameters<typeof brokenFinding>[0] = {}): Finding =>
  brokenFinding({ exchanges: [], observed: value(200), ...more });

function result(id: string, status: CheckResult["status"], findings: Finding[] = []): CheckResult {
  const check = id.replace(/\[.*/, "");
  return {
    id,
    check,
    suite: "auth",
    title: "A key that was never issued is denied",
    layer: "specification",
    axes: {},
    status,
    requirements: ["AUTH-3"],
    violated: findings.flatMap(({ requirements }) => requirements),
    message: "expected 401, got 200",
    findings,
    attestations: [],
    unblock: [],
    exchanges: [],
    durationMs: 1,
  };
}

const failing = result("auth.unknown-key[chat]", "fail", [broken()]);
const waiver: Waiver = {
  check: failing.id,
  reason: "the old edge lets them in until it is gone",
  owner: "edge team",
  expires: "2030-06-30",
  fingerprint: fingerprintOf(failing),
  magnitudes: { "AUTH-3": 1 },
  place: "waivers.yaml:3",
};
const context = { today: "2030-06-30", known: [failing.id, "auth.unknown-key[messages]"] };
const breachesOf = (results: CheckResult[], waivers: Waiver[], today = context.today) =>
  applyWaivers(results, waivers, { ...context, today }).breaches;

describe("a waiver", () => {
  test("is an overlay: the failure stays a failure, with its reason, owner and day", () => {
    const { results, breaches } = applyWaivers([failing], [waiver], context);
    expect(breaches).toEqual([]);
    expect(results).toEqual([
      { ...failing, waived: { reason: waiver.reason, owner: "edge team", expires: "2030-06-30" } },
    ]);
  });

  test("covers one instance only", () => {
    const other = { ...failing, id: "auth.unknown-key[messages]" };
    expect(applyWaivers([other], [waiver], context).results).toEqual([other]);
  });

  test.each<[what: string, kind: string, results: CheckResult[], waiver: Waiver, today: string]>([
    ["past its day", "expired", [failing], waiver, "2030-07-01"],
    ["past its day, of a check that is not run", "expired", [], waiver, "2030-07-01"],
    ["of what passes now", "stale", [result(failing.id, "pass")], waiver, context.today],
    ["of what only warns now", "stale", [result(failing.id, "warn")], waiver, context.today],
    ["of no check there is", "unmatched", [failing], { ...waiver, check: "auth.unknown-keys[chat]" }, context.today],
    [
      "of another status",
      "differently-failing",
      [result(failing.id, "fail", [broken({ observed: value(500) })])],
      waiver,
      context.today,
    ],
    [
      "of other requirements",
      "differently-failing",
      [result(failing.id, "fail", [broken(), broken({ name: "STREAM-2", requirements: ["STREAM-2"] })])],
      waiver,
      context.today,
    ],
  ])("%s is %s, names its place and covers nothing", (_what, kind, results, given, today) => {
    const applied = applyWaivers(results, [given], { ...context, today });
    expect(applied.breaches).toMatchObject([{ kind, check: given.check }]);
    expect(applied.breaches[0]?.text).toMatch(/^waivers\.yaml:3: /);
    expect(applied.results.filter(({ waived }) => waived !== undefined)).toEqual([]);
  });

  test.each(["blocked", "inconclusive", "not-applicable", "harness-error"] as const)(
    "of a check whose status is %s is neither used nor stale",
    (status) => expect(breachesOf([result(failing.id, status)], [waiver])).toEqual([]),
  );

  test("of a check that is not in this run is ignored", () => expect(breachesOf([], [waiver])).toEqual([]));
});

describe("the magnitude of a failure", () => {
  const failed = (share: number, name = "load.failed") =>
    broken({
      ...{
        name,
        requirements: [],
        expected: "at most 1 %",
        observed: `${share * 5_000} failed, ${share * 100} % of 5000`,
      },
      ...{ pointer: undefined, magnitude: share },
    });
  const load = (...findings: Finding[]) => result("load.starter.peak", "fail", findings);
  const suggested = (of: CheckResult[]): Waiver[] => {
    using folder = temporaryFolder();
    const file = join(folder.path, "waivers.yaml");
    writeFileSync(file, suggestWaivers(of, Date.UTC(2030, 5, 1)).replaceAll('""', "known"));
    return loadWaivers(file);
  };
  const kindsOf = (now: CheckResult, waivers: Waiver[]) =>
    applyWaivers([now], waivers, { today: "2030-06-01", known: [now.id] }).breaches.map(({ kind }) => kind);

  test.each<[what: string, now: CheckResult, kinds: string[]]>([
    ["as large", load(failed(0.0417)), []],
    ["smaller", load(failed(0.002)), []],
    ["twice as large", load(failed(0.0834)), []],
    ["ten times as large", load(failed(0.43)), ["grown"]],
  ])("waived at 4.17 % and now %s", (_what, now, kinds) => {
    expect(kindsOf(now, suggested([load(failed(0.0417))]))).toEqual(kinds);
  });

  test("is reported together with the waived one", () => {
    const [breach] = applyWaivers([load(failed(0.43))], suggested([load(failed(0.0417))]), {
      today: "2030-06-01",
      known: ["load.starter.peak"],
    }).breaches;
    expect(breach?.text).toContain("load.failed has magnitude 0.43; the waiver covers up to 2 × 0.0417");
  });

  test("without a stated measure is the share of unmet comparisons", () => {
    const met = (count: number) => broken({ outcome: "met", count });
    const some = result(failing.id, "fail", [broken(), met(99)]);
    const waivers = suggested([some]);
    expect(waivers[0]?.magnitudes).toEqual({ "AUTH-3": 0.01 });
    expect(kindsOf(some, waivers)).toEqual([]);
    expect(kindsOf(result(failing.id, "fail", [broken(), broken(), broken(), met(97)]), waivers)).toEqual(["grown"]);
  });

  test("that the file does not list is not covered", () => {
    const [waived] = suggested([failing]);
    if (waived === undefined) throw new Error("a failure has a waiver");
    expect(kindsOf(failing, [{ ...waived, magnitudes: {} }])).toEqual(["grown"]);
  });

  test("separates instances with failures of different sizes", () => {
    const [small, large] = [load(failed(0.04)), { ...load(failed(0.43)), id: "load.growth.peak" }];
    const waivers = suggested([small, large]);
    expect(new Map(waivers.map(({ check, magnitudes }) => [check, magnitudes["load.failed"]]))).toEqual(
      new Map([
        [small.id, 0.04],
        [large.id, 0.43],
      ]),
    );
  });

  test.each<[expectation: "atMost" | "atLeast" | "none", observed: number, magnitude: number | undefined]>([
    ["atMost", 45, 1.5],
    ["atMost", 30, undefined],
    ["atLeast", 20, 1.5],
    ["atLeast", 0, 60],
    ["none", 3, 3],
  ])("of a number compared with a bound (%s, %d) is a multiple of it", (expectation, observed, magnitude) => {
    const verdict = new Verdict();
    const bound = { atMost: atMost(30), atLeast: atLeast(30), none: 0 }[expectation];
    verdict.must("LIMIT-RATE-2", observed, bound);
    expect(verdict.findings[0]?.magnitude).toBe(magnitude);
  });

  test("does not exist for a status", () => {
    const verdict = new Verdict();
    verdict.must("AUTH-3", 500, 401);
    expect(verdict.findings[0]?.magnitude).toBeUndefined();
  });
});

describe("a fingerprint", () => {
  const of = (...findings: Finding[]) => fingerprintOf({ check: "auth.unknown-key", findings });

  test.each<[what: string, one: Finding, other: Finding]>([
    ["counts", broken({ pointer: "/n", observed: value(3) }), broken({ pointer: "/n", observed: value(17) })],
    [
      "texts",
      broken({ pointer: "/m", observed: value("id gx1, Nov 3") }),
      broken({ pointer: "/m", observed: value("id gx2, Nov 4") }),
    ],
    [
      "ids",
      broken({ pointer: "/id", observed: value("chatcmpl-Xa81bK") }),
      broken({ pointer: "/id", observed: value("chatcmpl-qT7zzP") }),
    ],
    [
      "excerpts",
      broken({ pointer: "/m", observed: { kind: "excerpt", text: '"Once upon', characters: 500 } }),
      broken({ pointer: "/m", observed: { kind: "excerpt", text: '"It was a', characters: 700 } }),
    ],
    ["subjects", broken({ subject: "200 after 3 ms" }), broken({ subject: "200 after 9 ms" })],
    ["exchanges", broken({ exchanges: ["x00001"] }), broken({ exchanges: ["x00777"] })],
  ])("is the same for other %s", (_what, one, other) => expect(of(one)).toBe(of(other)));

  test.each<[what: string, one: Finding, other: Finding]>([
    ["status", broken(), broken({ observed: value(403) })],
    ["named reason", broken({ observed: value("key_revoked") }), broken({ observed: value("quota_exceeded") })],
    ["requirement", broken(), broken({ name: "AUTH-2", requirements: ["AUTH-2"] })],
    ["place", broken({ pointer: "/a" }), broken({ pointer: "/b" })],
    ["absence", broken({ pointer: "reason", observed: ABSENT }), broken({ pointer: "reason", observed: value("x") })],
  ])("differs for another %s", (_what, one, other) => expect(of(one)).not.toBe(of(other)));

  test("does not count how often or in which order something was seen, or what only warned", () => {
    const second = broken({ name: "AUTH-2", requirements: ["AUTH-2"] });
    const warning = broken({ name: "AUTH-5", requirements: ["AUTH-5"], weight: "warn" });
    expect(of(broken(), second, warning, broken())).toBe(of(second, broken()));
  });
});

describe("the file", () => {
  const load = (text: string) => {
    using folder = temporaryFolder();
    const file = join(folder.path, "waivers.yaml");
    writeFileSync(file, text);
    return loadWaivers(file);
  };
  const entry = (more: string) =>
    `waivers:\n  - checks: ["auth.unknown-key[chat]"]\n    reason: r\n    owner: o\n    expires: 2030-01-31\n    fingerprint: 0123456789ab\n    magnitudes: { AUTH-3: 1 }\n${more}`;

  test("has a place for every instance", () => {
    expect(load(entry(""))).toMatchObject([
      { check: "auth.unknown-key[chat]", reason: "r", owner: "o", place: expect.stringMatching(/waivers\.yaml:2$/) },
    ]);
  });

  test.each<[what: string, text: string, says: RegExp]>([
    [
      "an empty reason",
      entry("").replace("reason: r", 'reason: " "'),
      /:3:5 \(waivers\.0\.reason\): must not be empty/,
    ],
    ["no owner", entry("").replace("    owner: o\n", ""), /\(waivers\.0\.owner\): missing/],
    ["an invalid date", entry("").replace("2030-01-31", "2030-02-31"), /:5:5 \(waivers\.0\.expires\)/],
    ["an unknown field", entry("    until: never\n"), /:8:5 .*unknown field "until"/],
    ["no magnitudes", entry("").replace("    magnitudes: { AUTH-3: 1 }\n", ""), /\(waivers\.0\.magnitudes\): missing/],
    ["an invalid magnitude", entry("").replace("AUTH-3: 1", "AUTH-3: much"), /:7:\d+ \(waivers\.0\.magnitudes/],
    ["an invalid fingerprint", entry("").replace("0123456789ab", "xyz"), /twelve digits/],
    [
      "an instance that is waived twice",
      `${entry("")}${entry("").replace("waivers:\n", "")}`,
      /:8.*is waived twice, first at .*:2/,
    ],
    ["no YAML", "waivers: [", /not valid YAML/],
  ])("with %s is refused at its line", (_what, text, says) => expect(() => load(text)).toThrow(says));

  test("with a suggestion is rejected until reason and owner are filled in, and then covers its failure", () => {
    const hostile = { ...failing, message: "got\n- evil: [\u2028\u0007" };
    const text = suggestWaivers([hostile, result("auth.bearer[chat]", "pass")], Date.UTC(2030, 5, 1));
    expect(parse(text)).toEqual({
      waivers: [
        {
          ...{ checks: [failing.id], reason: "", owner: "", expires: "2030-07-01" },
          ...{ fingerprint: waiver.fingerprint, magnitudes: { "AUTH-3": 1 } },
        },
      ],
    });
    expect(() => load(text)).toThrow(/reason[\s\S]*owner/);
    const filled = load(text.replaceAll('""', "known"));
    expect(applyWaivers([failing], filled, context).breaches).toEqual([]);
    expect(applyWaivers([failing], filled, context).results[0]?.waived?.owner).toBe("known");
  });
});
