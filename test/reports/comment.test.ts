import { describe, expect, test } from "vitest";
import { FORMATS } from "../../reports/index.ts";
import { compareStored } from "../../src/compare/index.ts";
import { causesOf, finding } from "../../src/judging/index.ts";
import type { JudgedPhase, JudgedRun, LoadClass, RunRecord } from "../../src/record/index.ts";
import { loadClass, loadPhase, loadRun, quantiles } from "../support/load-records.ts";
import { recordOf, result } from "../support/records.ts";

/** Latencies around a p50, with intervals of 2 % to either side. */
function latency(p50: number): NonNullable<LoadClass["responseMs"]> {
  const at = quantiles(p50);
  const around = (value: number): [number, number] => [value * 0.98, value * 1.02];
  const intervals = { p50: around(at.p50), p90: around(at.p90), p95: around(at.p95), p99: around(at.p99), p999: null };
  return { ...at, intervals };
}

/** Shares of 5,000 requests. */
function shares(failed: number, invalid: number): NonNullable<JudgedPhase["shares"]> {
  const around = (share: number): [number, number] => [share * 0.8, share * 1.2];
  const admitted = 1 - failed - invalid;
  return {
    ...{ admitted, denied: 0, failed, invalid },
    intervals: { admitted: around(admitted), denied: [0, 0], failed: around(failed), invalid: around(invalid) },
  };
}

interface Loaded {
  readonly perS: number;
  readonly ttft: number;
  readonly response: number;
  readonly tokens: number;
  /** Shares of the requests. */
  readonly failed: number;
  readonly invalid: number;
}

function load({ perS, ttft, response, tokens, failed, invalid }: Loaded): JudgedRun {
  const around: [number, number] = [perS * 0.99, perS * 1.01];
  const none: [number, number] = [0, 0];
  const intervals = { offered: around, sent: around, admitted: around, denied: none, failed: none, invalid: none };
  const rates = { offered: perS, sent: perS, admitted: perS, denied: 0, failed: 0, invalid: 0, intervals };
  const classes = [
    loadClass({ ttftMs: latency(ttft), responseMs: latency(response), outputTokens: tokens * loadClass().count }),
  ];
  return loadRun("checkout", { phases: [loadPhase("checkout", { rates, classes, shares: shares(failed, invalid) })] });
}

function record(checks: Parameters<typeof recordOf>[0], run: JudgedRun): RunRecord {
  return { ...recordOf(checks, { load: { runs: [run] } }), causes: causesOf(checks) };
}

const FASTER: Loaded = { perS: 29.8, ttft: 90, response: 420, tokens: 118, failed: 0.002, invalid: 0.001 };
const BASE = record(
  [result("auth.unknown-key[chat]", "pass"), result("models.list", "fail"), result("chat.minimal", "pass")],
  load(FASTER),
);
const NOW = record(
  [result("auth.unknown-key[chat]", "fail"), result("models.list", "pass"), result("chat.minimal", "pass")],
  load({ perS: 30.1, ttft: 120, response: 421, tokens: 94.5, failed: 0.012, invalid: 0.0011 }),
);

const commentOf = (source: Partial<Parameters<typeof FORMATS.comment>[0]>) =>
  [...FORMATS.comment({ record: NOW, evidence: () => undefined, ...source }, "single").values()].join("");

describe("a comment for a pull request", () => {
  test("compares a run with one of the base branch", async () => {
    const text = commentOf({ base: BASE, reportUrl: "https://ci.example/artifacts/gauntlet run" });
    await expect(text).toMatchFileSnapshot("comment.md");
  });

  test("a base with another workload is named as such, and no check counts as lost", () => {
    const other = loadRun("search", { phases: [loadPhase("search")] });
    const base = record([result("models.list", "pass")], other);
    const text = commentOf({ record: record([result("models.list", "fail")], load(FASTER)), base });
    expect(text).toContain(
      "**The two runs used different workloads**: <code>checkout</code> in this run, <code>search</code> in the base. Only what both runs contain is compared.",
    );
    expect(text).toContain("**Newly failing (1)**: <code>models.list</code>\n");
    expect(text).not.toMatch(/Missing|\| base \|/);
  });

  test("has the thresholds of each workload, with value and outcome", () => {
    const thresholds = [
      finding({ name: "failed == 0", title: "t", requirements: [], met: true, observed: "0", expected: "== 0" }),
      finding({
        name: "ttft_ms p95 < 800",
        title: "t",
        requirements: [],
        met: false,
        observed: "912 ms",
        expected: "< 800 ms",
      }),
      finding({ name: "itl_ms p99 < 80", title: "t", requirements: [], undecided: "12 samples are too few for p99" }),
    ];
    const checks = [result("load.checkout.thresholds", "fail", { check: "load.thresholds", findings: thresholds })];
    const text = commentOf({ record: { ...NOW, ...record(checks, load(FASTER)) } });
    expect(text).toContain(`
| | threshold of checkout | value |
|---|---|---|
| ✓ | <code>failed == 0</code> | 0 |
| ✗ | <code>ttft_ms p95 &lt; 800</code> | 912 ms |
| ? | <code>itl_ms p99 &lt; 80</code> | 12 samples are too few for p99 |
`);
  });

  test("has the length of the replies and the shares of failed and invalid requests only if the base has them", () => {
    const runs = (BASE.load?.runs ?? []).map((run) => ({
      ...run,
      phases: run.phases.map(({ shares: _, ...phase }) => ({
        ...phase,
        classes: phase.classes.map((entry) => ({ ...entry, outputTokens: 0 })),
      })),
    }));
    const text = commentOf({ base: { ...BASE, load: { runs } } });
    expect(text).toContain("| TTFT p50, chat streaming | 90 (88.2–91.8) ms |");
    expect(text).not.toMatch(/tokens per reply|failed requests|invalid requests/);
  });

  test.each<[what: string, now: Partial<Loaded>, row: RegExp]>([
    ["more than noise", { response: 1_200 }, /E2E p50, .* \| \*\*\+185\.7 %\*\*, slower \|/],
    [
      "within the margin, with intervals that do not overlap",
      { response: 440 },
      /E2E p50, .* \| \+4\.8 %, not worse \|/,
    ],
    ["between the margin and noise", { response: 600 }, /E2E p50, .* \| \+42\.9 %, undecided \|/],
    ["a change that rounds to zero", { perS: 29.801 }, /admitted requests .* \| 0 %, not worse \|/],
    ["shorter replies", { tokens: 59 }, /output tokens .* \| \*\*−50 %\*\*, lower \|/],
    ["faster with shorter replies", { tokens: 59, response: 100 }, /E2E p50, .* \| −76\.2 %, undecided \|/],
  ])("has the verdicts of compare: %s", (_what, now, row) => {
    const base = record([], load(FASTER));
    const after = record([], load({ ...FASTER, ...now }));
    const text = commentOf({ record: after, base });
    expect(text).toMatch(row);
    const side = (name: string, one: RunRecord) => ({
      ...{ name, record: one, behaviour: { checks: one.checks, responses: new Map() } },
    });
    const { metrics } = compareStored(side("a", base), side("b", after));
    expect(text.includes("slower")).toBe(metrics.some(({ unit, verdict }) => unit === "ms" && verdict === "regressed"));
  });

  test("without a base it has the verdict, the causes and the marker by which a job finds it", () => {
    const text = commentOf({});
    expect(text.split("\n")[0]).toBe(`<!-- gauntlet: ${encodeURIComponent(NOW.target.name)} -->`);
    expect(text).toMatch(/^### ✗ FAIL/m);
    expect(text).not.toMatch(/base|Newly/);
  });
});
