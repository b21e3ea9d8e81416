import { describe, expect, test } from "vitest";
import { compareStored } from "../../src/compare/index.ts";
import type { Comparison, JudgedRun, RunRecord } from "../../src/record/index.ts";
import { loadClass, loadPhase, loadRun, quantiles } from "../support/load-records.ts";
import { recordOf, result } from "../support/records.ts";

function compared(a: RunRecord, b: RunRecord): Comparison {
  const side = (record: RunRecord) => ({ record, behaviour: { checks: record.checks, answers: new Map() } });
  return compareStored(side(a), side(b));
}

function withLoad(run: JudgedRun, overrides: Partial<RunRecord> = {}): RunRecord {
  return { ...recordOf([], { load: { runs: [run] } }), ...overrides };
}

const finding = (outcome: "met" | "broken" | "undecided") => ({
  ...{
    name: "rate.exceeded",
    title: "The limit holds",
    requirements: ["LIMIT-RATE-2"],
    outcome,
    basis: "timing" as const,
  },
  ...{ weight: "fail" as const, expected: "at most 306", observed: "300", exchanges: [] },
});
const phaseWith = (latencyMs: number, overrides = {}) =>
  loadPhase("at-rate-limit", {
    classes: [loadClass({ responseMs: quantiles(latencyMs), ttftMs: quantiles(latencyMs / 4), gapMs: quantiles(20) })],
    findings: [finding("met")],
    ...overrides,
  });
const tier = (latencyMs: number, overrides = {}, run: Partial<JudgedRun> = {}) =>
  loadRun("starter", { phases: [phaseWith(latencyMs, overrides)], ...run });

const verdictOf = (word: RunRecord["verdict"]["result"], exitCode: number): RunRecord["verdict"] => ({
  ...{ result: word, exitCode, headline: `${word.toUpperCase()}: x`, reasons: [], qualifiers: [] },
});
const FAIL = verdictOf("fail", 1);
const PASS = verdictOf("pass", 0);
const OPEN = verdictOf("inconclusive", 4);

describe("two stored runs", () => {
  test("every latency twenty times: regressed, and the evidence is called weaker", () => {
    const { verdict, reasons, metrics } = compared(withLoad(tier(40)), withLoad(tier(800)));
    expect(verdict).toBe("regressed");
    expect(reasons.join("\n")).toMatch(/response_ms p50 went from 40.0 to 800.0 ms \(weaker evidence/);
    expect(metrics.find(({ name }) => name.includes("gap_ms p50"))?.verdict).toBe("not worse");
  });

  test.each<[what: string, b: Partial<RunRecord>, verdict: Comparison["verdict"]]>([
    ["its own verdict is FAIL now", { verdict: FAIL }, "regressed"],
    ["its own verdict is INCONCLUSIVE now", { verdict: OPEN }, "inconclusive"],
    ["it was cut short", { complete: false }, "inconclusive"],
  ])("%s", (_what, b, verdict) => {
    const found = compared(withLoad(tier(40), { verdict: PASS }), withLoad(tier(40), { verdict: PASS, ...b }));
    expect(found.verdict).toBe(verdict);
    expect(found.reasons).not.toEqual([]);
  });

  test.each<[what: string, now: JudgedRun, verdict: Comparison["verdict"]]>([
    ["a load finding that is broken now", tier(40, { findings: [finding("broken")] }), "regressed"],
    ["one that is not decided any more", tier(40, { findings: [finding("undecided")] }), "inconclusive"],
    ["one that is gone", tier(40, { findings: [] }), "regressed"],
    ["a phase that fails now", tier(40, { verdict: "fail" }), "regressed"],
    ["a tenth of the requests fail", tier(40, { failed: 500 }), "regressed"],
    ["the same", tier(40), "not worse"],
    ["much faster", tier(10), "improved"],
    ["slower by a half, as days differ", tier(60), "inconclusive"],
  ])("%s", (_what, now, verdict) => {
    expect(compared(withLoad(tier(40)), withLoad(now)).verdict).toBe(verdict);
  });

  test("figures of other machines, other loads and late generators decide nothing", () => {
    const environment = { ...withLoad(tier(40)).environment, cpuModel: "another" };
    const late = { ...tier(40).generator, valid: false, problems: ["late"] };
    for (const b of [
      withLoad(tier(800), { environment }),
      withLoad(tier(800, {}, { workload: { other: true } })),
      withLoad(tier(800, {}, { generator: late })),
    ]) {
      const { metrics, verdict } = compared(withLoad(tier(40)), b);
      expect(new Set(metrics.map((metric) => metric.verdict))).toEqual(new Set(["inconclusive"]));
      expect(verdict).toBe("inconclusive");
    }
  });

  test("nothing that both decided is inconclusive, not as good as before", () => {
    const open = recordOf([result("auth.a", "blocked"), result("auth.b", "inconclusive")]);
    expect(compared(open, open)).toMatchObject({
      verdict: "inconclusive",
      reasons: ["nothing was decided in both runs"],
    });
    expect(compared(recordOf([]), recordOf([])).verdict).toBe("inconclusive");
  });

  test("times and ids are no behaviour", () => {
    const observed = (text: string) => ({
      ...result("robustness.large-body", "observed"),
      findings: [
        {
          ...{ name: "SPEND-14", requirements: ["SPEND-14"], exchanges: [], outcome: "observed", weight: "none" },
          observed: text,
        } as RunRecord["checks"][number]["findings"][number],
      ],
    });
    const drift = (before: string, now: string) =>
      compared(recordOf([observed(before)]), recordOf([observed(now)])).drift.length;
    expect(drift('{"answer":"200","ms":6}', '{"answer":"200","ms":74}')).toBe(0);
    expect(drift("first byte after 12.5 ms", "first byte after 1 s")).toBe(0);
    expect(drift("6663 of 6663 answers carry a request id", "12 of 12 answers carry a request id")).toBe(0);
    expect(drift("6663 of 6663 answers carry a request id", "11 of 12 answers carry a request id")).toBe(1);
    expect(drift('{"answer":"200","ms":6}', '{"answer":"413","ms":6}')).toBe(1);
  });
});
