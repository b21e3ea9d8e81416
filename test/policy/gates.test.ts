import { describe, expect, test } from "vitest";
import type { BaselineFile } from "../../src/policy/index.ts";
import {
  acceptBaseline,
  applyPolicy,
  confirmed,
  decideByPolicy,
  type Policy,
  policySchema,
  toConfirm,
} from "../../src/policy/index.ts";
import type { JudgedRun, RunRecord } from "../../src/record/index.ts";
import { loadClass, loadPhase, loadRun, quantiles } from "../support/load-records.ts";
import { addedBy, overheadLevel, overheadOf } from "../support/overhead-records.ts";
import { broken, met, recordOf, result } from "../support/records.ts";

function policyOf(written: object, baseline?: BaselineFile): Policy {
  return {
    source: "policy.yaml",
    sha256: "0".repeat(64),
    file: policySchema.parse(written),
    baseline: baseline === undefined ? undefined : { source: "baseline.json", file: baseline },
    coverage: new Map([["AUTH-3", ["auth.good", "auth.bad", "auth.other"]]]),
  };
}

const PASSING = [result("auth.good", "pass"), result("errors.good", "pass")];

function withLoad(...runs: JudgedRun[]): RunRecord {
  return recordOf(PASSING, { load: { runs } });
}

const RECORD = withLoad(loadRun("growth"));
const GOODPUT = withLoad(
  loadRun("w", {
    phases: [
      loadPhase("w", {
        offered: 100,
        goodput: {
          ...{ objectives: [{ text: "ttft_ms < 300", met: 90 }], requests: 90, requestsPerS: 9, share: 0.9 },
          ...{ tokens: null, tokensPerS: null },
          intervals: { requestsPerS: [8.2, 9.9], share: [0.82, 0.94] },
        },
      }),
    ],
  }),
);
const INVALID = { ...loadRun("growth").generator, valid: false, problems: ["schedule lag p99 80 ms"] };

describe("thresholds over a record", () => {
  test.each<[gate: string, record: RunRecord, outcome: string, observed: number | null]>([
    ["ttft_ms{tier=growth,stream=true} p99 < 800", RECORD, "pass", 180],
    ["ttft_ms{tier=growth,stream=true} p99 < 180", RECORD, "fail", 180],
    ["ttft_ms{tier=growth,stream=true} p99 <= 180", RECORD, "pass", 180],
    ["response_ms p50 > 419", RECORD, "pass", 420],
    // It was not measured: never a pass.
    ["ttft_ms{tier=starter} p99 < 800", RECORD, "inconclusive", null],
    ["ttft_ms{stream=false} p99 < 800", RECORD, "inconclusive", null],
    ["ttft_ms p99 < 800", recordOf(PASSING), "inconclusive", null],
    ["denied == 0", recordOf(PASSING), "inconclusive", null],
    ["goodput_share >= 0.8", GOODPUT, "pass", 0.9],
    ["goodput_share >= 0.9", GOODPUT, "inconclusive", 0.9],
    ["goodput_share >= 0.95", GOODPUT, "fail", 0.9],
    ["goodput_per_s > 9", GOODPUT, "inconclusive", 9],
    ["goodput_per_s > 10", GOODPUT, "fail", 9],
    ["goodput_share >= 0", RECORD, "inconclusive", null],
    // A name that does not occur in the run does not count as zero.
    ["denied{reason=our_own_word} == 0", RECORD, "inconclusive", null],
    ["denied{dialect=messages} == 0", RECORD, "inconclusive", null],
    ["denied{stream=false} == 0", RECORD, "inconclusive", null],
    ["denied{phase=over-limits} == 0", RECORD, "inconclusive", null],
    ["failed{tier=grwoth} == 0", RECORD, "inconclusive", null],
    ["checks{check=auth.goods,status=fail} == 0", RECORD, "inconclusive", null],
    ["retry_after_sufficient{reason=our_own_word} >= 0", RECORD, "inconclusive", null],
    ["early_sends{tier=scale} == 0", RECORD, "inconclusive", null],
    ["peak_in_flight{tier=scale} <= 9999", RECORD, "inconclusive", null],
    ["schedule_lag_ms{tier=scale} p99 < 9", RECORD, "inconclusive", null],
    // A reason from the denial table, or a dialect and mode that were sent: zero denials is a count.
    ["denied{dialect=chat,stream=true,phase=at-limit} == 0", RECORD, "pass", 0],
    ["denied{dialect=chat,stream=true} == 0", RECORD, "fail", 1_500],
    ["tokens_per_reply{stream=true} >= 18", RECORD, "pass", 18],
    ["tokens_per_reply > 18", RECORD, "fail", 18],
    ["tokens_per_reply{stream=false} > 0", RECORD, "inconclusive", null],
    // The short phase names from the documentation are accepted.
    ["denied{phase=at-limit} == 0", RECORD, "pass", 0],
    ["denied{phase=over-limit} == 0", RECORD, "fail", 1_500],
    ["denied{phase=over-rate-limit,reason=concurrency_limit_exceeded} <= 100", RECORD, "pass", 100],
    ["denied{phase=over-rate-limit,reason=budget_exhausted} == 0", RECORD, "pass", 0],
    ["denied{phase=recovery} == 0", RECORD, "inconclusive", null],
    ["denied_share{phase=over-rate-limit} < 0.31", RECORD, "pass", 0.3],
    ["failed_share == 0", RECORD, "pass", 0],
    ["retry_after_sufficient{reason=rate_limit_exceeded} >= 0.99", RECORD, "pass", 0.99],
    ["retry_after_sufficient{reason=rate_limit_exceeded} > 0.99", RECORD, "fail", 0.99],
    ["retry_after_sufficient{reason=concurrency_limit_exceeded} >= 0.5", RECORD, "inconclusive", null],
    ["retry_after_usable == 1", RECORD, "fail", 1_399 / 1_400],
    ["early_sends == 0", RECORD, "pass", 0],
    ["schedule_lag_ms p99 < 5", RECORD, "pass", 1.2],
    ["checks{status=pass,suite=auth} >= 1", RECORD, "pass", 1],
    ["checks{suite=auth,status=fail} == 0", RECORD, "pass", 0],
    ["checks{suite=nowhere,status=fail} == 0", RECORD, "inconclusive", null],
    // A distribution must meet its threshold everywhere: the worst series decides, and nothing is averaged.
    [
      "ttft_ms p50 < 100",
      withLoad(
        loadRun("growth", {
          phases: [loadPhase("a"), loadPhase("b", { classes: [loadClass({ ttftMs: quantiles(101) })] })],
        }),
      ),
      "fail",
      101,
    ],
    [
      "admitted_per_s > 10",
      withLoad(
        loadRun("growth", {
          phases: [loadPhase("a"), loadPhase("b", { rates: { ...loadPhase("b").rates, admitted: 9 } })],
        }),
      ),
      "fail",
      9,
    ],
    // Denied requests are fast; they are never among the admitted ones.
    [
      "response_ms p50 > 400",
      withLoad(
        loadRun("growth", {
          phases: [
            loadPhase("a", { classes: [loadClass(), loadClass({ outcome: "denied", responseMs: quantiles(2) })] }),
          ],
        }),
      ),
      "pass",
      420,
    ],
    [
      "response_ms{outcome=denied} p50 < 3",
      withLoad(
        loadRun("growth", {
          phases: [loadPhase("a", { classes: [loadClass({ outcome: "denied", responseMs: quantiles(2) })] })],
        }),
      ),
      "pass",
      2,
    ],
    // Too few samples for the quantile.
    [
      "ttft_ms p99 < 800",
      withLoad(loadRun("growth", { phases: [loadPhase("a", { classes: [loadClass({ count: 367 })] })] })),
      "inconclusive",
      null,
    ],
    [
      "ttft_ms p99 < 800",
      withLoad(loadRun("growth", { phases: [loadPhase("a", { classes: [loadClass({ count: 368 })] })] })),
      "pass",
      180,
    ],
    // A late generator says nothing about a gateway, in either direction; its own figures are true.
    ["ttft_ms p99 < 800", withLoad(loadRun("growth", { generator: INVALID })), "inconclusive", null],
    ["ttft_ms p99 < 8", withLoad(loadRun("growth", { generator: INVALID })), "inconclusive", null],
    ["schedule_lag_ms p99 < 1", withLoad(loadRun("growth", { generator: INVALID })), "fail", 1.2],
    // No baseline.
    ["ttft_ms p99 < baseline * 1.1", RECORD, "inconclusive", 180],
  ])("%s", (gate, record, outcome, observed) => {
    const [made] = applyPolicy(record, policyOf({ gates: [gate] })).gates;
    expect(made?.outcome).toBe(outcome);
    if (observed === null) expect(made?.observed).toBeNull();
    else expect(made?.observed).toBeCloseTo(observed, 9);
  });
});

describe("thresholds over figures with intervals", () => {
  const intervals = {
    p50: [85, 95],
    p90: [130, 140],
    p95: [150, 160],
    p99: [170, 200],
    p999: null,
  } satisfies NonNullable<NonNullable<ReturnType<typeof loadClass>["ttftMs"]>["intervals"]>;
  const phase = loadPhase("a", {
    classes: [loadClass({ ttftMs: { ...quantiles(90), intervals } })],
    rates: {
      ...{ offered: 20, sent: 20, admitted: 18, denied: 0, failed: 0, invalid: 0 },
      intervals: { offered: [20, 20], sent: [19, 21], admitted: [16, 20], denied: [0, 0], failed: null, invalid: null },
    },
    sent: 1_000,
    admitted: 990,
    denied: 10,
    shares: {
      ...{ admitted: 0.99, denied: 0.01, failed: 0, invalid: 0 },
      intervals: { admitted: [0.982, 0.995], denied: [0.005, 0.018], failed: [0, 0.004], invalid: [0, 0.004] },
    },
  });
  const record = withLoad(loadRun("growth", { phases: [phase] }));

  test.each<[gate: string, outcome: string]>([
    ["ttft_ms p99 < 201", "pass"],
    // The upper end is the threshold: it is not certainly below it.
    ["ttft_ms p99 < 200", "inconclusive"],
    ["ttft_ms p99 < 181", "inconclusive"],
    ["ttft_ms p99 < 171", "inconclusive"],
    ["ttft_ms p99 < 170", "fail"],
    ["ttft_ms p99 <= 170", "inconclusive"],
    ["ttft_ms p50 > 84", "pass"],
    ["ttft_ms p50 > 86", "inconclusive"],
    ["ttft_ms p50 > 95", "fail"],
    // 5,000 samples, with correlation between neighbours.
    ["ttft_ms p999 < 100000", "inconclusive"],
    ["ttft_ms max < 361", "pass"],
    ["admitted_per_s > 15", "pass"],
    ["admitted_per_s > 17", "inconclusive"],
    ["admitted_per_s >= 21", "fail"],
    ["denied_share < 0.02", "pass"],
    ["denied_share < 0.011", "inconclusive"],
    ["denied_share < 0.005", "fail"],
    ["failed_share < 0.001", "inconclusive"],
    // Not a single one: the count decides.
    ["failed_share == 0", "pass"],
    ["failed_share <= 0", "pass"],
    ["admitted == 990", "pass"],
    ["admitted < 991", "pass"],
  ])("%s: %s", (gate, outcome) => {
    const [made] = applyPolicy(record, policyOf({ gates: [gate] })).gates;
    expect(made?.outcome).toBe(outcome);
  });

  test("an undecided gate says what is known and what would be needed", () => {
    const messages = applyPolicy(record, policyOf({ gates: ["ttft_ms p99 < 181", "ttft_ms p999 < 900"] })).gates;
    expect(messages.map(({ message }) => message)).toEqual([
      "180 (interval: 170 to 200), bound < 181; more samples would narrow the interval",
      "the 5000 samples are correlated in time and count as fewer than the 3688 independent ones that p999 needs; a longer load yields more independent samples",
    ]);
  });
});

describe("thresholds over what a gateway adds", () => {
  const record = recordOf([], {
    overhead: overheadOf([
      overheadLevel({ concurrency: 1, addedMs: addedBy(1) }),
      overheadLevel({ concurrency: 8, addedMs: addedBy(4) }),
      overheadLevel({ concurrency: 8, stream: true, addedMs: addedBy(9), addedTtftMs: addedBy(2) }),
      overheadLevel({ concurrency: 32, addedMs: addedBy(500), upstreamBound: true }),
      overheadLevel({ concurrency: 64, addedMs: { ...addedBy(2), p99: { value: null, low: null, high: null } } }),
    ]),
  });
  test.each<[gate: string, outcome: string, observed: number | null]>([
    ["overhead.added_ms{concurrency=1} p50 < 2", "pass", 1],
    ["overhead.added_ms{concurrency=1} p50 < 0.5", "fail", 1],
    // The whole interval decides.
    ["overhead.added_ms{concurrency=1} p50 < 1.05", "inconclusive", 1],
    ["overhead.added_ms{concurrency=1} p50 > 0.95", "inconclusive", 1],
    // The worst of several levels; one that is limited by the upstream says nothing about the gateway.
    ["overhead.added_ms{gateway=my-gateway,stream=false} p50 < 5", "pass", 4],
    ["overhead.added_ttft_ms p50 < 5", "pass", 2],
    ["overhead.added_gap_ms{stream=true} p90 < 1", "pass", 0],
    ["overhead.added_ms{concurrency=32} p50 < 1000", "inconclusive", null],
    ["overhead.added_ms{concurrency=64} p99 < 1000", "inconclusive", null],
    ["overhead.added_ms{prompt_bytes=5} p50 < 1000", "inconclusive", null],
  ])("%s: %s", (gate, outcome, observed) => {
    expect(applyPolicy(record, policyOf({ gates: [gate] })).gates[0]).toMatchObject({ outcome, observed });
  });

  test("a statistic that a difference does not have is an error", () => {
    expect(() => policyOf({ gates: ["overhead.added_ms p999 < 5"] })).toThrow("expected one of p50, p90, p99");
  });
});

describe("required suites and requirements, the compatibility layer, load", () => {
  const compat = (status: "pass" | "warn") =>
    result("compat.shape", status, {
      layer: "compat",
      findings: [status === "pass" ? met() : broken({ requirements: ["AUTH-5"], weight: "warn" })],
    });
  test.each<[what: string, written: object, record: RunRecord, gate: string, outcome: string]>([
    ["a suite that was judged", { require: { suites: ["auth"] } }, RECORD, "suite auth judged", "pass"],
    ["a suite that was not run", { require: { suites: ["limits"] } }, RECORD, "suite limits judged", "inconclusive"],
    [
      "a suite of which only some checks were selected",
      { require: { suites: ["auth"] } },
      recordOf(PASSING, { notSelected: ["auth.bad", "auth.other", "chat.a"] }),
      "suite auth judged",
      "inconclusive",
    ],
    [
      "a suite of which all checks were selected",
      { require: { suites: ["auth"] } },
      recordOf(PASSING, { notSelected: ["chat.a"] }),
      "suite auth judged",
      "pass",
    ],
    [
      "a requirement of which only some checks were selected",
      { require: { requirements: ["AUTH-3"] } },
      recordOf(PASSING, { notSelected: ["auth.other"] }),
      "requirement AUTH-3 met",
      "inconclusive",
    ],
    [
      "a requirement of which all checks were selected",
      { require: { requirements: ["AUTH-3"] } },
      recordOf(PASSING, { notSelected: ["chat.a"] }),
      "requirement AUTH-3 met",
      "pass",
    ],
    [
      "a suite with a blocked check",
      { require: { suites: ["auth"] } },
      recordOf([result("auth.a", "pass"), result("auth.b", "blocked")]),
      "suite auth judged",
      "inconclusive",
    ],
    [
      "a suite of which nothing applies to the target",
      { require: { suites: ["messages"] } },
      recordOf([...PASSING, result("messages.a", "not-applicable")]),
      "suite messages judged",
      "inconclusive",
    ],
    [
      "a suite with a failure",
      { require: { suites: ["auth"] } },
      recordOf([result("auth.a", "fail")]),
      "suite auth judged",
      "fail",
    ],
    ["a requirement that was met", { require: { requirements: ["AUTH-3"] } }, RECORD, "requirement AUTH-3 met", "pass"],
    [
      "a requirement that was broken once",
      { require: { requirements: ["AUTH-3"] } },
      recordOf([...PASSING, result("auth.b", "fail")]),
      "requirement AUTH-3 met",
      "fail",
    ],
    [
      "a requirement that nothing judged",
      { require: { requirements: ["AUTH-4"] } },
      RECORD,
      "requirement AUTH-4 met",
      "inconclusive",
    ],
    ["a compat miss", { compat: "error" }, recordOf([...PASSING, compat("warn")]), "compat expectations met", "fail"],
    ["compat met", { compat: "error" }, recordOf([...PASSING, compat("pass")]), "compat expectations met", "pass"],
    [
      "compat switched off",
      { compat: "off" },
      recordOf([...PASSING, compat("warn")]),
      "compat expectations met",
      "off",
    ],
    ["load that was driven", { load: ["growth"] }, RECORD, "load growth driven", "pass"],
    ["load that was not driven", { load: ["scale"] }, RECORD, "load scale driven", "inconclusive"],
    [
      "load that failed",
      { load: ["growth"] },
      withLoad(loadRun("growth", { phases: [loadPhase("recovery", { verdict: "fail" })] })),
      "load growth driven",
      "fail",
    ],
    [
      "load that is not decided",
      { load: ["growth"] },
      withLoad(loadRun("growth", { verdict: "inconclusive" })),
      "load growth driven",
      "inconclusive",
    ],
  ])("%s", (_what, written, record, gate, outcome) => {
    const made = applyPolicy(record, policyOf(written)).gates.find((entry) => entry.gate === gate);
    expect(made?.outcome).toBe(outcome);
  });
});

test("a required suite that ran in part says how many checks ran", () => {
  const record = recordOf(PASSING, { notSelected: ["auth.bad", "auth.other", "chat.a"] });
  const [made] = applyPolicy(record, policyOf({ require: { suites: ["auth"] } })).gates;
  expect(made?.message).toMatch(/^only 1 of its 3 check instances were selected/);
});

test("a selector that matched nothing is named, with the existing values", () => {
  const messageOf = (gate: string) => applyPolicy(RECORD, policyOf({ gates: [gate] })).gates[0]?.message;
  expect(messageOf("denied{phase=over-limits} == 0")).toBe(
    "nothing in this run has phase=over-limits; this run has at-rate-limit, over-rate-limit",
  );
  expect(messageOf("denied{reason=our_own_word} == 0")).toBe(
    "nothing in this run has reason=our_own_word; this run has concurrency_limit_exceeded, rate_limit_exceeded",
  );
});

describe("verdict and exit code", () => {
  const failing = recordOf([result("auth.bad", "fail")], { load: { runs: [loadRun("growth")] } });
  const blocked = recordOf([result("auth.good", "pass"), result("auth.away", "blocked")], {
    load: { runs: [loadRun("growth")] },
  });
  const cut = recordOf(PASSING, {
    load: { runs: [loadRun("growth")] },
    complete: false,
    verdict: {
      result: "inconclusive",
      exitCode: 130,
      headline: "INCONCLUSIVE: staging, interrupted by SIGINT",
      reasons: [{ kind: "run", text: "nothing was judged" }],
      qualifiers: [],
    },
  });
  const MET = "ttft_ms p99 < 800";
  const MISSED = "ttft_ms p99 < 100";
  const UNKNOWN = "ttft_ms{tier=starter} p99 < 800";
  test.each<[what: string, record: RunRecord, gates: unknown[], word: string, exit: number, headline: RegExp]>([
    ["all met", RECORD, [MET], "pass", 0, /^PASS: staging$/],
    [
      "one missed",
      RECORD,
      [MET, "denied{phase=over-limit} == 0"],
      "fail",
      1,
      /^FAIL: staging; 1 of the policy's gates failed$/,
    ],
    ["one not decided", RECORD, [UNKNOWN], "inconclusive", 4, /^INCONCLUSIVE: staging; 1 could not be decided$/],
    ["missed and not decided", RECORD, [MISSED, UNKNOWN], "fail", 1, /^FAIL: .* failed, 1 could not be decided$/],
    ["missed, as a warning", RECORD, [{ gate: MISSED, level: "warn" }], "pass", 0, /^PASS: staging; 1 warned$/],
    ["not decided, as a warning", RECORD, [{ gate: UNKNOWN, level: "warn" }], "pass", 0, /^PASS: staging; 1 warned$/],
    ["missed, switched off", RECORD, [{ gate: MISSED, level: "off" }], "pass", 0, /^PASS: staging$/],
    ["a failure of a check, all gates met", failing, [MET], "fail", 1, /^FAIL: staging$/],
    ["a failure of a check, one gate not decided", failing, [UNKNOWN], "fail", 1, /^FAIL/],
    ["blocked checks, all gates met", blocked, [MET], "inconclusive", 4, /^INCONCLUSIVE: staging$/],
    ["blocked checks, one gate missed", blocked, [MISSED], "fail", 1, /^FAIL/],
    ["interrupted, one gate missed", cut, [MISSED], "fail", 130, /^FAIL/],
    ["interrupted, all met", cut, [MET], "inconclusive", 130, /^INCONCLUSIVE/],
  ])("%s", (_what, record, gates, word, exitCode, headline) => {
    const verdict = decideByPolicy(record.verdict, applyPolicy(record, policyOf({ gates })));
    expect(verdict).toMatchObject({ result: word, exitCode });
    expect(verdict.headline).toMatch(headline);
    expect(verdict.reasons.length > 0 || word === "pass").toBe(true);
  });
});

describe("baselines", () => {
  const accepted = acceptBaseline(undefined, RECORD);
  const GATE = "ttft_ms{phase=at-rate-limit,dialect=chat,stream=true} p99 <= baseline * 1.1";
  const slower = (factor: number) =>
    withLoad(
      loadRun("growth", {
        phases: [loadPhase("at-rate-limit", { classes: [loadClass({ ttftMs: quantiles(90 * factor) })] })],
      }),
    );
  const otherMachine = { ...RECORD.environment, cpuModel: "another CPU" };
  test.each<[what: string, record: RunRecord, baseline: BaselineFile | undefined, outcome: string, says: RegExp]>([
    ["the same", RECORD, accepted, "pass", /180, bound <= 198/],
    ["9 % slower", slower(1.09), accepted, "pass", /bound/],
    ["11 % slower", slower(1.11), accepted, "fail", /199.8, bound <= 198/],
    ["no baseline", RECORD, undefined, "inconclusive", /no baseline/],
    ["another machine", { ...slower(1.5), environment: otherMachine }, accepted, "inconclusive", /another machine/],
    [
      "another workload",
      withLoad(loadRun("growth", { workload: { shape: "other" } })),
      accepted,
      "inconclusive",
      /has no ttft_ms/,
    ],
    ["another tier", withLoad(loadRun("scale")), accepted, "inconclusive", /for scale/],
  ])("%s", (_what, record, baseline, outcome, says) => {
    const [made] = applyPolicy(record, policyOf({ gates: [GATE] }, baseline)).gates;
    expect(made).toMatchObject({ outcome, message: expect.stringMatching(says) });
  });

  test("a second machine and a second tier are added; the same one is replaced", () => {
    const there = acceptBaseline(accepted, { ...RECORD, environment: otherMachine, runId: "there" });
    const again = acceptBaseline(there, { ...withLoad(loadRun("scale"), loadRun("growth")), runId: "again" });
    expect(again.performance.map(({ tier, machine, from }) => [tier, machine.cpuModel, from.runId])).toEqual([
      ["growth", "CPU", "again"],
      ["growth", "another CPU", "there"],
      ["scale", "CPU", "again"],
    ]);
  });

  test.each<[what: string, record: RunRecord, says: RegExp]>([
    ["cut short", { ...RECORD, complete: false }, /cut short/],
    ["made by a late generator", withLoad(loadRun("growth", { generator: INVALID })), /too busy to judge timing/],
    ["empty", recordOf([]), /judged nothing/],
  ])("a run that was %s cannot be one", (_what, record, says) => {
    expect(() => acceptBaseline(undefined, record)).toThrow(says);
  });
});

describe("measured once more", () => {
  const policy = policyOf({
    gates: ["ttft_ms p99 < 100", { gate: "event_gap_ms p99 < 1", level: "warn" }, "checks{status=fail} == 0"],
  });
  const record = recordOf([result("auth.bad", "fail")], { load: { runs: [loadRun("growth"), loadRun("scale")] } });
  const first = applyPolicy(record, policy);

  test("only what a failed performance gate concerns", () => {
    expect(toConfirm(record, policy, first)).toEqual(["growth", "scale"]);
    const one = policyOf({ gates: ["ttft_ms{tier=scale} p99 < 100"] });
    expect(toConfirm(record, one, applyPolicy(record, one))).toEqual(["scale"]);
  });

  test.each<[what: string, p50: number | null, outcome: string]>([
    ["fails twice", 90, "fail"],
    ["passes the second time", 40, "pass"],
    ["is not decided the second time", null, "inconclusive"],
  ])("%s", (_what, p50, outcome) => {
    const classes = p50 === null ? [] : [loadClass({ ttftMs: quantiles(p50) })];
    const later = applyPolicy(
      withLoad(loadRun("growth", { phases: [loadPhase("at-rate-limit", { classes })] })),
      policy,
    );
    const section = confirmed(first, later);
    expect(section.confirmed).toBe(true);
    expect(section.gates[0]).toMatchObject({ outcome, first: { outcome: "fail", observed: 180 } });
    // What load cannot change stays.
    expect(section.gates.find(({ gate }) => gate.startsWith("checks"))?.outcome).toBe("fail");
  });
});
