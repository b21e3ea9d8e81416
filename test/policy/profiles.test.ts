import { describe, expect, test } from "vitest";
import { describeProfiles } from "../../reports/text/index.ts";
import { decide, decideWithProfiles, judgeProfiles, type ProfileContext, raiseLevels } from "../../src/policy/index.ts";
import { decidingResults } from "../../src/policy/profiles/decide-by-profiles.ts";
import type { CheckResult } from "../../src/record/index.ts";
import { PROFILES, type Profile, profileNamed, type RequirementId } from "../../src/requirements/index.ts";
import { broken, met, result } from "../support/records.ts";

/** The suite of a profile that judges most of it. */
const suiteOf = ({ name, suites }: Pick<Profile, "name" | "suites">): string =>
  ({ "models-and-auth": "auth", denials: "errors", limits: "limits" })[name] ?? suites.at(-1) ?? "";

/** One check instance for each requirement of a profile. */
const JUDGES: ProfileContext["instances"] = PROFILES.flatMap((profile) =>
  profile.requirements.map(({ id }) => {
    const suite = suiteOf(profile);
    const check = `${suite}.${profile.name}-${id.toLowerCase()}`;
    return { id: check, check, suite, dialect: profile.dialect ?? "any", requirements: [id] };
  }),
);

const judgeOf = (profile: string, requirement: RequirementId): string =>
  `${suiteOf(profileNamed(profile) ?? { name: profile, suites: [] })}.${profile}-${requirement.toLowerCase()}`;

const context = (...profiles: string[]): ProfileContext => ({ profiles, declared: [], instances: JUDGES });

/** A run in which every requirement of these profiles is met, except for what is replaced. */
function runOf(
  profiles: readonly string[],
  replaced: Readonly<Record<string, CheckResult | undefined>> = {},
): CheckResult[] {
  return JUDGES.filter(({ id }) => profiles.some((profile) => id.includes(`.${profile}-`))).flatMap(
    ({ id, requirements }) => {
      if (id in replaced) return replaced[id] ?? [];
      return result(id, "pass", {
        requirements: [...requirements],
        findings: [met({ requirements: [...requirements] as RequirementId[] })],
      });
    },
  );
}

const violating = (id: string, requirement: RequirementId, overrides: Partial<CheckResult> = {}): CheckResult =>
  result(id, "fail", {
    requirements: [requirement],
    violated: [requirement],
    findings: [broken({ requirements: [requirement], weight: requirement.startsWith("COMPAT-") ? "warn" : "fail" })],
    ...overrides,
  });

/** What a run with these results and chosen profiles ends with. */
function verdictOf(results: readonly CheckResult[], ...chosen: string[]) {
  const given = context(...chosen);
  const raised = raiseLevels(results, given);
  const { verdict, profiles = [] } = decideWithProfiles(raised, given, { targetName: "gw", qualifiers: [] });
  return { verdict, profiles, line: describeProfiles(profiles.filter(({ result: one }) => one !== "not-claimed")) };
}

const CHAT_3 = judgeOf("chat", "CHAT-3");
const undecided = { kind: "declared-gap", about: "key.empty", why: "no such account" } as const;

describe("the result of a profile", () => {
  test("is conformant if every MUST was judged and met", () => {
    const { line, verdict } = verdictOf(runOf(["chat"]), "chat");
    expect([line, verdict.result, verdict.exitCode]).toEqual(["chat: conformant", "pass", 0]);
  });

  test.each<[string, CheckResult | undefined, string, string]>([
    ["violated", violating(CHAT_3, "CHAT-3"), "not conformant (1 cause)", "fail"],
    ["flaky", violating(CHAT_3, "CHAT-3", { status: "flaky" }), "not conformant (1 cause)", "fail"],
    ["not selected", undefined, "partial (1 skipped)", "inconclusive"],
    ["blocked", result(CHAT_3, "blocked", { requirements: ["CHAT-3"] }), "partial (1 blocked)", "inconclusive"],
    [
      "blocked after it compared something: a precondition did not hold, so the comparison says nothing",
      result(CHAT_3, "blocked", { requirements: ["CHAT-3"], findings: [met({ requirements: ["CHAT-3"] })] }),
      "partial (1 blocked)",
      "inconclusive",
    ],
    [
      "inconclusive, because the machine was busy",
      result(CHAT_3, "inconclusive", {
        requirements: ["CHAT-3"],
        reason: { kind: "machine-busy", problems: ["lag"] },
        findings: [met({ requirements: ["CHAT-3"] })],
      }),
      "partial (1 undecided)",
      "inconclusive",
    ],
    [
      "an error of the harness",
      result(CHAT_3, "harness-error", { requirements: ["CHAT-3"] }),
      "partial (1 undecided)",
      "error",
    ],
    [
      "a declared gap",
      result(CHAT_3, "not-applicable", { requirements: ["CHAT-3"], reason: undecided }),
      "partial (1 skipped)",
      "inconclusive",
    ],
    [
      "only observed",
      result(CHAT_3, "observed", { requirements: ["CHAT-3"] }),
      "partial (1 not judged)",
      "inconclusive",
    ],
    [
      "passed by a check that compared something else",
      result(CHAT_3, "pass", { requirements: ["CHAT-3"], findings: [met({ requirements: ["CHAT-2"] })] }),
      "partial (1 not judged)",
      "inconclusive",
    ],
    [
      "undecided next to something met",
      result(CHAT_3, "inconclusive", {
        requirements: ["CHAT-3"],
        findings: [
          met({ requirements: ["CHAT-3"] }),
          broken({ requirements: ["CHAT-3"], met: undefined, undecided: "truncated" }),
        ],
      }),
      "partial (1 undecided)",
      "inconclusive",
    ],
    [
      "waived",
      violating(CHAT_3, "CHAT-3", { waived: { reason: "known", owner: "gw", expires: "2999-01-01" } }),
      "partial (1 waived)",
      "pass",
    ],
  ])("with one MUST %s", (_, one, expected, verdict) => {
    const found = verdictOf(runOf(["chat"], { [CHAT_3]: one }), "chat");
    const line = describeProfiles(found.profiles.filter(({ claimed }) => claimed));
    expect([line, found.verdict.result]).toEqual([`chat: ${expected}`, verdict]);
    expect(found.verdict.headline.startsWith(verdict.toUpperCase())).toBe(true);
  });

  test("is never conformant if nothing was tested", () => {
    for (const { name } of PROFILES) {
      const { profiles, verdict } = verdictOf([], name);
      expect([name, profiles.find((one) => one.name === name)?.result, verdict.result]).toEqual([
        name,
        "partial",
        "inconclusive",
      ]);
    }
  });

  test("is not conformant for a violation in any check of its dialect, and under load", () => {
    const inOtherSuite = { id: "robustness.stable", check: "robustness.stable", suite: "robustness" };
    const given = (dialect: "any" | "messages"): ProfileContext => ({
      ...context("chat"),
      instances: [...JUDGES, { ...inOtherSuite, dialect, requirements: ["BASE-3"] }],
    });
    const resultOf = (results: readonly CheckResult[], of: ProfileContext) =>
      judgeProfiles(results, of).find(({ name }) => name === "chat")?.result;
    const results = [...runOf(["chat"]), violating(inOtherSuite.id, "BASE-3")];
    expect(resultOf(results, given("any"))).toBe("not-conformant");
    expect(resultOf(results, given("messages"))).toBe("conformant");
    expect(resultOf([...runOf(["chat"]), violating("load.growth.held", "CHAT-2")], context("chat"))).toBe(
      "not-conformant",
    );
  });

  test("a custom suite neither proves nor disproves a profile, and still decides the run", () => {
    const own = violating("acme.usage", "CHAT-3");
    const { line, verdict } = verdictOf([...runOf(["chat"]), own], "chat");
    expect([line, verdict.result]).toEqual(["chat: conformant", "fail"]);
    const claimedByOwn = result("acme.usage", "pass", { findings: [met({ requirements: ["CHAT-3"] })] });
    expect(verdictOf([...runOf(["chat"], { [CHAT_3]: undefined }), claimedByOwn], "chat").line).toBe(
      "chat: partial (1 skipped)",
    );
  });

  test("only the chosen profiles decide; the others are shown", () => {
    const { line, verdict } = verdictOf(
      runOf(["chat", "streaming", "denials"], {
        [judgeOf("denials", "ERR-HDR-1")]: violating(judgeOf("denials", "ERR-HDR-1"), "ERR-HDR-1"),
      }),
      "chat",
      "streaming",
    );
    expect(line).toBe("chat: conformant · streaming: conformant · denials: not conformant (1 cause)");
    expect([verdict.result, verdict.exitCode, verdict.reasons]).toEqual(["pass", 0, []]);
  });

  test("a profile that was not chosen is not claimed if something was not tested", () => {
    const { profiles } = verdictOf(runOf(["chat", "money"], { [judgeOf("money", "SPEND-7")]: undefined }), "chat");
    expect(profiles.find(({ name }) => name === "money")?.result).toBe("not-claimed");
  });

  test("what a profile raises to MUST fails instead of warning", () => {
    const id = judgeOf("openai-sdk", "COMPAT-CHAT-DONE");
    const results = runOf(["openai-sdk"], { [id]: violating(id, "COMPAT-CHAT-DONE", { status: "warn" }) });
    const { line, verdict } = verdictOf(results, "openai-sdk");
    expect([line, verdict.result]).toEqual(["openai-sdk: not conformant (1 cause)", "fail"]);
    const raised = raiseLevels(results, context("openai-sdk")).find((one) => one.id === id);
    expect([raised?.status, raised?.findings[0]?.weight]).toEqual(["fail", "fail"]);
    // Where nobody chose it, it is a warning as before, and the result of the profile is shown.
    expect(raiseLevels(results, context("chat"))).toEqual(results);
    expect(verdictOf([...runOf(["chat"]), ...results], "chat")).toMatchObject({
      line: "chat: conformant · openai-sdk: not conformant (1 cause)",
      verdict: { result: "pass" },
    });
  });

  test.each<[string, Partial<CheckResult>, string]>([
    ["that warns in some rounds only is flaky", { rounds: [round("warn"), round("pass")] }, "flaky"],
    ["that warns in every round fails", { rounds: [round("warn"), round("warn")] }, "fail"],
    ["that could not be decided fails, because a MUST is violated", { status: "inconclusive" }, "fail"],
    ["that is blocked stays blocked", { status: "blocked" }, "blocked"],
  ])("a raised check %s", (_, overrides, expected) => {
    const id = judgeOf("openai-sdk", "COMPAT-CHAT-DONE");
    const before = violating(id, "COMPAT-CHAT-DONE", { status: "warn", ...overrides });
    expect(raiseLevels([before], context("openai-sdk"))[0]?.status).toBe(expected);
  });

  test("a part that the target does not declare is not required, and one that it declares is", () => {
    const of = (declared: readonly string[]) =>
      judgeProfiles(runOf(["limits"], { [judgeOf("limits", "TOKENS-DENIAL")]: undefined }), {
        ...context("limits"),
        declared,
      }).find(({ name }) => name === "limits");
    expect(of([])?.result).toBe("conformant");
    expect(of([])?.requirements.find(({ id }) => id === "TOKENS-DENIAL")?.result).toBe("not-applicable");
    expect(of(["tokenLimits"])?.result).toBe("partial");
  });

  test("names an exchange of the violation and its control request", () => {
    const finding = broken({ requirements: ["CHAT-3"], exchanges: ["x00007"], control: "x00006" });
    const { profiles } = verdictOf(
      runOf(["chat"], { [CHAT_3]: violating(CHAT_3, "CHAT-3", { findings: [finding] }) }),
      "chat",
    );
    const found = profiles[0]?.requirements.find(({ id }) => id === "CHAT-3");
    expect(found).toMatchObject({ result: "broken", exchange: "x00007", control: "x00006", checks: [CHAT_3] });
  });
});

describe("what is undecided does not disappear with chosen profiles", () => {
  const machine = { kind: "machine-busy" as const, problems: ["lag"] };
  const open = (...requirements: RequirementId[]) => broken({ requirements, met: undefined, undecided: "truncated" });

  test.each<[string, CheckResult]>([
    [
      "a phase of a load that would have judged something else",
      result("load.growth.over-rate-limit", "inconclusive", {
        requirements: ["ERR-429-RATE"],
        reason: machine,
        findings: [open("ERR-429-RATE")],
      }),
    ],
    ["a load that was not sent as planned", result("load.growth", "inconclusive", { requirements: [], findings: [] })],
    [
      "a check of another profile with an undecided comparison of what the chosen one requires",
      result("robustness.stable", "inconclusive", { requirements: ["CHAT-3"], findings: [open("CHAT-3")] }),
    ],
    [
      "a failure of what is not required, next to an undecided comparison of what is",
      result("robustness.stable", "fail", {
        requirements: ["CHAT-3", "ERR-HDR-1"],
        findings: [broken({ requirements: ["ERR-HDR-1"] }), open("CHAT-3")],
      }),
    ],
  ])("%s", (_, one) => {
    const other = { id: "robustness.stable", check: "robustness.stable", suite: "robustness", dialect: "any" } as const;
    const given = { ...context("chat"), instances: [...JUDGES, { ...other, requirements: [] }] };
    const deciding = decidingResults([...runOf(["chat"]), one], given);
    expect(deciding.find(({ id }) => id === one.id)?.status).toBe("inconclusive");
    const verdict = decide(deciding, { targetName: "gw", qualifiers: [] });
    expect([verdict.result, verdict.exitCode]).toEqual(["inconclusive", 4]);
  });

  test("what no chosen profile requires still decides nothing", () => {
    const one = judgeOf("denials", "ERR-HDR-1");
    const results = [
      violating(one, "ERR-HDR-1"),
      result(one, "inconclusive", { requirements: ["ERR-HDR-1"], findings: [open("ERR-HDR-1")] }),
      result(one, "blocked", { requirements: ["ERR-HDR-1"] }),
    ];
    expect(decidingResults(results, context("chat"))).toEqual([]);
  });
});

function round(status: CheckResult["status"]) {
  return { status, message: "" };
}

test("an error in a suite is listed after a failure, which decides the verdict", () => {
  const place = "suite.ts:20:72";
  const broken = result("acme.broken", "harness-error", {
    message: `error in your suite, ${place}: x is not a function`,
    reason: { kind: "suite-error", place, text: "x is not a function" },
  });
  const { exitCode, reasons } = decide([broken, result("acme.region", "fail")], { targetName: "gw", qualifiers: [] });
  expect(exitCode).toBe(1);
  expect(reasons.map(({ text }) => text)).toEqual([
    expect.stringMatching(/^fail: /),
    `harness-error: error in your suite, ${place}: x is not a function`,
  ]);
});
