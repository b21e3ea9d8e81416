import { describe, expect, test } from "vitest";
import { FORMATS } from "../../reports/index.ts";
import { compareStored } from "../../src/compare/index.ts";
import { causesOf, finding } from "../../src/judging/index.ts";
import type { JudgedPhase, JudgedRun, LoadClass, RunRecord } from "../../src/record/index.ts";
import { loadClass, loadPhase, loadRun, loadSeries, quantiles } from "../support/load-records.ts";
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

  test("names checks that newly warn, as a comparison does", () => {
    const same = load(FASTER);
    const base = record([result("models.list", "pass")], same);
    const text = commentOf({ record: record([result("models.list", "warn")], same), base });
    expect(text).toContain("**Newly warning (1)**: <code>models.list</code>");
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
    const text = commentOf({ record: { ...NOW, load: undefined } });
    expect(text.split("\n")[0]).toBe(`<!-- gauntlet: ${encodeURIComponent(NOW.target.name)} -->`);
    expect(text).toMatch(/^### ✗ FAIL/m);
    expect(text).not.toMatch(/base|Newly/);
  });
});

/** Two phases and both modes, in a steady state from 4 s to 14 s. */
function tier(name: string): JudgedRun {
  const wide = { ...latency(90), intervals: { p50: [88, 92], p90: null, p95: [130, 210], p99: null, p999: null } };
  const classes = [
    loadClass({ ttftMs: wide as LoadClass["ttftMs"], responseMs: latency(420) }),
    loadClass({ stream: false, ttftMs: null, responseMs: latency(310), count: 60 }),
    loadClass({ outcome: "failed", ttftMs: latency(77_777), count: 12 }),
  ];
  const around: [number, number] = [16.3, 17.1];
  const intervals = { ...{ offered: around, sent: around, admitted: around }, denied: around, failed: around };
  const rates = { ...loadPhase("p").rates, intervals: { ...intervals, invalid: around } };
  const series = loadSeries(0, 20, 20, 20);
  const steady = { fromS: 4, toS: 14, kind: "steady" } as const;
  const counts = { sent: 5_020, admitted: 5_000, failed: 12, invalid: 8 };
  return loadRun(name, {
    phases: [
      loadPhase("below-rate-limit", { ...counts, rates, classes, series, steady }),
      loadPhase("over-rate-limit", { denied: 1_500, admitted: 3_500 }),
    ],
  });
}

describe("a comment without a base to compare with", () => {
  const withLoads = (...runs: JudgedRun[]) => recordOf([], { command: "load", load: { runs } });

  test("has what each load measured", async () => {
    const threshold = finding({
      ...{ name: "ttft_ms p95 < 800", title: "t", requirements: [], met: true },
      ...{ observed: "153 ms", expected: "< 800 ms" },
    });
    const checks = [
      result("load.checkout.thresholds", "pass", { check: "load.thresholds", findings: [threshold] }),
      result("models.list", "pass"),
    ];
    const text = commentOf({ record: recordOf(checks, { load: { runs: [load(FASTER), tier("growth")] } }) });
    await expect(text).toMatchFileSnapshot("comment-without-base.md");
  });

  test("has the rate of the steady state of a workload", () => {
    const run: JudgedRun = { ...tier("growth"), kind: "workload" };
    expect(commentOf({ record: withLoads(run) })).toContain(
      "growth, below-rate-limit: 19.7 admitted/s in the steady state from 4 s to 14 s, 16.7/s until the last response.",
    );
  });

  test("has the figures of at most three loads and ten phases, and the number of the others", () => {
    const long = loadRun("long", { phases: Array.from({ length: 12 }, (_, index) => loadPhase(`step-${index}`)) });
    const text = commentOf({ record: withLoads(long, tier("a"), tier("b"), tier("c"), tier("d")) });
    expect([...text.matchAll(/^\| (\S+): latency/gm)].map(([, name]) => name)).toEqual(["long", "a", "b"]);
    expect(text.match(/^\| long \| step-/gm)).toHaveLength(10);
    expect(text).toContain("\nThe report has 6 more phases and 2 more loads.\n");
  });

  test("has the outcomes of a load that admitted nothing, and no empty table", () => {
    const denied = loadPhase("w", { sent: 15, admitted: 0, denied: 15, classes: [] });
    const text = commentOf({ record: withLoads(loadRun("w", { phases: [denied] })) });
    expect(text).toMatch(/^\| w \| w \| \S* \| 15 \| 0 \| 15 \| 0 \| 0 \| /m);
    expect(text).not.toContain("latency");
  });

  test("names loads whose generator exceeded its bounds", () => {
    const run = tier("growth");
    const text = commentOf({ record: withLoads({ ...run, generator: { ...run.generator, valid: false } }) });
    expect(text).toContain("The generator exceeded its bounds in growth: these figures say nothing about the gateway.");
  });

  test("has no figures of a load that was interrupted before it began", () => {
    expect(commentOf({ record: withLoads(loadRun("w", { phases: [] })) })).not.toMatch(/admitted\/s|base/);
  });

  test.each<[what: string, base: RunRecord]>([
    ["no load", recordOf([result("models.list", "pass")])],
    ["another workload", withLoads(loadRun("search", { phases: [loadPhase("search")] }))],
    ["a workload of the same name that is defined differently", withLoads(loadRun("growth", { workload: { n: 1 } }))],
  ])("a base with %s: the figures of this run, without those of the base", (_what, base) => {
    const text = commentOf({ record: withLoads(tier("growth")), base });
    expect(text).toContain("**The two runs used different workloads**");
    expect(text).toContain("| growth | below-rate-limit | pass | 5,020 | 5,000 | 0 | 12 | 8 | 16.7 (16.3–17.1) |");
    expect(text).toMatch(/^\| TTFT \| chat streaming \| /m);
    expect(text).not.toMatch(/\| base \||search \||no base run/);
    expect(text).toMatch(/\nCompared with run .*\n$/);
  });

  test("figures next to those of the base are not repeated in a table without it", () => {
    const both = withLoads(tier("growth"), tier("new"));
    const text = commentOf({ record: both, base: withLoads(tier("growth")) });
    expect(text).toContain("| growth | base | this run | change |");
    expect([...text.matchAll(/^\| (\S+): latency/gm)].map(([, name]) => name)).toEqual(["new"]);
    expect(text).not.toContain("| growth | below-rate-limit |");
  });
});
