import { describe, expect, test } from "vitest";
import { compareStored } from "../../src/compare/index.ts";
import { finding as madeFinding } from "../../src/judging/index.ts";
import type { Comparison, JudgedRun, LoadClass, RunRecord, Status } from "../../src/record/index.ts";
import { loadClass, loadPhase, loadRun, quantiles } from "../support/load-records.ts";
import { recordOf, result, textsOf } from "../support/records.ts";

const side = (name: string, record: RunRecord) => ({
  name,
  record,
  behaviour: { checks: record.checks, responses: new Map() },
});

function compared(a: RunRecord, b: RunRecord): Comparison {
  return compareStored(side("before", a), side("after", b));
}

function withLoad(run: JudgedRun, overrides: Partial<RunRecord> = {}): RunRecord {
  return { ...recordOf([], { load: { runs: [run] } }), ...overrides };
}

const finding = (outcome: "met" | "broken" | "undecided") =>
  madeFinding({
    name: "rate.exceeded",
    title: "The limit holds",
    requirements: ["LIMIT-RATE-2"],
    basis: "timing",
    ...(outcome === "undecided" ? { undecided: "too few denials" } : { met: outcome === "met" }),
    expected: { kind: "at-most", bound: 306 },
    observed: "300",
  });
const phaseWith = (latencyMs: number, overrides = {}) =>
  loadPhase("at-rate-limit", {
    classes: [
      loadClass({ responseMs: quantiles(latencyMs), ttftMs: quantiles(latencyMs / 4), eventGapMs: quantiles(20) }),
    ],
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
    expect(textsOf({ reasons }).join("\n")).toMatch(
      /E2E p50, chat streaming, starter at-rate-limit went from 40.0 to 800.0 ms \(weaker evidence/,
    );
    expect(metrics.find(({ name }) => name.includes("event_gap_ms p50"))?.verdict).toBe("not worse");
  });

  test.each<[what: string, b: Partial<RunRecord>, verdict: Comparison["verdict"]]>([
    ["its own verdict is FAIL now", { verdict: FAIL }, "regressed"],
    ["its own verdict is INCONCLUSIVE now", { verdict: OPEN }, "inconclusive"],
    ["it was cut short", { complete: false }, "inconclusive"],
  ])("%s", (_what, b, verdict) => {
    const found = compared(withLoad(tier(40), { verdict: PASS }), withLoad(tier(40), { verdict: PASS, ...b }));
    expect(found.verdict).toBe(verdict);
    expect(textsOf(found)).not.toEqual([]);
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

  const withShares = (sent: number, counts: Partial<Record<"denied" | "failed" | "invalid", number>>) =>
    tier(40, { sent, ...counts });
  const AT_240 = withShares(240, {});

  test.each<[what: string, before: JudgedRun, now: JudgedRun, verdict: Comparison["verdict"], says: RegExp]>([
    [
      "2 failures of 240 after none may be chance",
      AT_240,
      withShares(240, { failed: 2 }),
      "inconclusive",
      /the 95 % intervals 0–1\.58 % and 0\.23–2\.99 % overlap; about \d+ requests in each run would decide it, these had 240\): failed requests/,
    ],
    ["4 failures of 240 may be chance", AT_240, withShares(240, { failed: 4 }), "inconclusive", /overlap/],
    ["1 % of 24,000 fail", withShares(24_000, {}), withShares(24_000, { failed: 240 }), "regressed", /failed requests/],
    ["every 2xx is invalid", AT_240, withShares(240, { invalid: 240 }), "regressed", /invalid requests/],
    [
      "every request of 10 is denied",
      withShares(10, {}),
      withShares(10, { denied: 10 }),
      "regressed",
      /denied requests/,
    ],
    ["1 of 5,000 is certain to be within a point", tier(40), tier(40, { failed: 1 }), "not worse", /^$/],
    ["nothing was sent", AT_240, withShares(0, {}), "inconclusive", /it has 0 samples/],
    ["fewer failures", withShares(240, { failed: 2 }), AT_240, "not worse", /^$/],
    ["almost no failures any more", withShares(240, { failed: 120 }), AT_240, "improved", /failed requests/],
  ])("shares: %s", (_what, before, now, verdict, says) => {
    const found = compared(withLoad(before), withLoad(now));
    expect(found.verdict).toBe(verdict);
    expect(textsOf(found).join("\n")).toMatch(says);
  });

  test.each<[before: number, now: number, verdict: Comparison["verdict"]]>([
    [2_950, 2_990, "not worse"],
    [2_950, 3_100, "inconclusive"],
    [2_950, 3_500, "regressed"],
    [100, 220, "regressed"],
    [0, 150, "regressed"],
  ])("of 5,000 requests, %d and then %d denied: %s", (before, now, verdict) => {
    expect(compared(withLoad(tier(40, { denied: before })), withLoad(tier(40, { denied: now }))).verdict).toBe(verdict);
  });

  test("the recorded intervals count, which are wider if failures occur together", () => {
    const shares = { admitted: 0.99, denied: 0, failed: 0.01, invalid: 0 };
    const wide: [number, number] = [0, 0.2];
    const intervals = { admitted: wide, denied: wide, failed: wide, invalid: wide };
    const now = tier(40, { failed: 50, shares: { ...shares, intervals } });
    const found = compared(withLoad(tier(40)), withLoad(now));
    expect(found.verdict).toBe("inconclusive");
    expect(textsOf(found).join("\n")).toMatch(/0–0\.08 % and 0–20 % overlap\): failed/);
  });

  const ofCount = (count: number, p99: number) =>
    tier(40, {
      classes: [
        loadClass({
          count,
          outputTokens: count * 18,
          ttftMs: null,
          eventGapMs: null,
          responseMs: { ...quantiles(40), p99 },
        }),
      ],
    });

  test.each<[before: number, now: number, tail: string]>([
    [100, 120, "p99"],
    [120, 99, "p95"],
    [65, 62, "p95"],
    [30, 30, "p95"],
  ])("of %d and %d requests, the tail is %s", (before, now, tail) => {
    const found = compared(withLoad(ofCount(before, 80)), withLoad(ofCount(now, 84)));
    const latencies = found.metrics.filter(({ unit }) => unit === "ms").map(({ name }) => name.split(" ").at(-1));
    expect(latencies).toEqual(["p50", tail]);
    const least = Math.min(before, now);
    expect(textsOf(found)).toEqual(
      tail === "p99"
        ? []
        : [
            `not compared, because p99 needs at least 100 requests: E2E p99, chat streaming, starter at-rate-limit (${least}; ${tail} instead)`,
          ],
    );
    expect(found.verdict).toBe("not worse");
  });

  test("a p99 of 65 requests is their maximum, and decides nothing", () => {
    expect(compared(withLoad(ofCount(65, 80)), withLoad(ofCount(62, 170))).verdict).toBe("not worse");
    expect(compared(withLoad(ofCount(650, 80)), withLoad(ofCount(620, 170))).verdict).toBe("inconclusive");
  });

  test("a large change of a quantile without an interval is undecided", () => {
    const withIntervals = (p99: number, hasInterval: boolean) => {
      const [phase] = ofCount(150, p99).phases;
      const classes = phase?.classes.map((one) => ({
        ...one,
        responseMs: {
          ...{ ...quantiles(40), p99 },
          intervals: {
            p50: [39, 41],
            p90: [38, 44],
            p95: null,
            p99: hasInterval ? [p99 - 1, p99 + 1] : null,
            p999: null,
          },
        },
      }));
      return withLoad(tier(40, { classes: classes ?? [] }));
    };
    // It does not show that the second run is as good, either: what makes a run worse may also be why it has no interval.
    for (const [first, second] of [
      [withIntervals(80, true), withIntervals(400, false)],
      [withIntervals(80, false), withIntervals(400, false)],
      [withIntervals(400, false), withIntervals(80, true)],
    ] as const) {
      const found = compared(first, second);
      expect(found.verdict).toBe("inconclusive");
      expect(textsOf(found).join()).toMatch(/too few independent requests to decide\): E2E p99, chat streaming/);
      expect(found.metrics.map(({ name }) => name.split(" ").at(-1))).toEqual(expect.arrayContaining(["p90", "p99"]));
    }
    expect(compared(withIntervals(80, false), withIntervals(84, false)).verdict).toBe("not worse");
    expect(compared(withIntervals(80, true), withIntervals(400, true)).verdict).toBe("regressed");
  });

  test("the tail of few requests is still compared", () => {
    const slow = ofCount(62, 80);
    const [phase] = slow.phases;
    const classes = phase?.classes.map((one) => ({ ...one, responseMs: { ...quantiles(40), p95: 800 } }));
    const now = { ...slow, phases: slow.phases.map((one) => ({ ...one, classes: classes ?? [] })) };
    expect(compared(withLoad(ofCount(65, 80)), withLoad(now)).verdict).toBe("regressed");
  });

  const failing = (failed: number) =>
    loadRun("w", {
      kind: "workload",
      phases: [
        loadPhase("w", {
          ...{ sent: 5_000, failed, verdict: failed > 0 ? "fail" : "pass" },
          findings: [
            madeFinding({
              ...{ name: "load.failed", title: "Requests do not fail", requirements: [] },
              ...{ met: failed === 0, expected: { kind: "at-most", bound: 0 }, observed: `${failed}` },
            }),
          ],
        }),
      ],
    });

  test("one failure counts once, and its share is what regressed", () => {
    const found = compared(withLoad(failing(0)), withLoad(failing(1)));
    expect(found.verdict).toBe("regressed");
    expect(found.checks.newlyFailing.map(({ id }) => id)).toEqual(["load.w.w"]);
    const share = (name: string) => found.metrics.find((metric) => metric.name === name)?.verdict;
    expect([share("w failed_share"), share("w invalid_share")]).toEqual(["regressed", "not worse"]);
    const back = compared(withLoad(failing(1)), withLoad(failing(0)));
    expect(back.checks.fixed.map(({ id }) => id)).toEqual(["load.w.w"]);
    expect(back.verdict).toBe("improved");
  });

  test("a finding of a check that failed before counts itself", () => {
    const check = (status: "met" | "broken") => ({
      ...result("limits.a", "fail"),
      findings: [finding("broken"), { ...finding(status), name: "rate.second" }],
    });
    const found = compared(recordOf([check("met")]), recordOf([check("broken")]));
    expect(found.checks.newlyFailing.map(({ id }) => id)).toEqual(["limits.a.rate.second"]);
  });

  test("each reason has its own status", () => {
    const checks = (status: Status) => [result("auth.a", status), result("auth.b", "pass")];
    const { reasons } = compared(
      recordOf(checks("pass"), { load: { runs: [tier(40)] }, verdict: PASS }),
      recordOf(checks("fail"), {
        load: {
          runs: [
            tier(40, {
              classes: [loadClass({ responseMs: quantiles(60), ttftMs: quantiles(10), eventGapMs: quantiles(2) })],
            }),
          ],
        },
        ...{ verdict: FAIL, complete: false },
      }),
    );
    expect(reasons).toMatchObject([
      { status: "fail", text: "after failed; before had passed" },
      { status: "fail", text: "auth.a newly fails" },
      { status: "pass", text: expect.stringContaining("event gap p50") },
      { status: "pass", text: expect.stringContaining("event gap p99") },
      { status: "inconclusive", text: expect.stringContaining("was cut short") },
      {
        status: "inconclusive",
        text: expect.stringMatching(
          /^undecided \(separate runs of one build may differ by up to 2\.5 times\): E2E p50, .* \(\+50\.0 %\); E2E p99, .*/,
        ),
      },
    ]);
  });

  test("figures of other machines, other loads and late generators decide nothing, except counts that hold at any pace", () => {
    const environment = { ...withLoad(tier(40)).environment, cpuModel: "another" };
    const late = { ...tier(40).generator, valid: false, problems: ["late"] };
    for (const [b, holds] of [
      [withLoad(tier(800), { environment }), /tokens/],
      [withLoad(tier(800, {}, { workload: { other: true } })), /tokens/],
      [withLoad(tier(800, {}, { generator: late })), /tokens|failed_share|invalid_share/],
    ] as const) {
      const { metrics, verdict } = compared(withLoad(tier(40)), b);
      expect(metrics.filter(({ name }) => name.endsWith("failed_share")).map((one) => one.verdict)).toEqual([
        holds.test("failed_share") ? "not worse" : "inconclusive",
      ]);
      const dependent = metrics.filter(({ name }) => !holds.test(name));
      expect(new Set(dependent.map((metric) => metric.verdict))).toEqual(new Set(["inconclusive"]));
      expect(verdict).toBe("inconclusive");
    }
  });

  const classes = (...some: Partial<LoadClass>[]) => ({
    classes: some.map((one) =>
      loadClass({ responseMs: quantiles(40), ttftMs: quantiles(10), eventGapMs: quantiles(20), ...one }),
    ),
  });

  test("a smaller noise factor decides smaller changes, and is recorded", () => {
    const twice = withLoad(tier(40, classes({ responseMs: quantiles(80) })));
    const sides = [side("before", withLoad(tier(40))), side("after", twice)] as const;
    const verdictWith = (noiseFactor?: number) => {
      const { verdict, noiseFactor: recorded } = compareStored(...sides, { noiseFactor });
      return [verdict, recorded];
    };
    expect(verdictWith()).toEqual(["inconclusive", undefined]);
    expect(verdictWith(1.5)).toEqual(["regressed", 1.5]);
    expect(verdictWith(2.1)).toEqual(["inconclusive", 2.1]);
  });

  test("an undecided figure has a next step, and a decided one has none", () => {
    const stepFor = (p50: number) =>
      compared(withLoad(tier(40)), withLoad(tier(40, classes({ responseMs: quantiles(p50) })))).nextStep;
    expect(stepFor(60)).toContain("`gauntlet compare --start-a COMMAND --start-b COMMAND`");
    expect(stepFor(40)).toBeUndefined();
  });

  test.each<[what: string, now: object, verdict: Comparison["verdict"], says: RegExp]>([
    [
      "a sixteenth of the tokens in a tenth of the time is worse",
      classes({ responseMs: quantiles(4), ttftMs: quantiles(1), outputTokens: 90_000 / 16 }),
      "regressed",
      /output tokens per reply, chat streaming, starter at-rate-limit went from 18\.0 to 1\.1 tokens/,
    ],
    [
      "a sixth fewer tokens may explain why it is faster",
      classes({ responseMs: quantiles(4), outputTokens: 76_000 }),
      "inconclusive",
      /undecided \(the replies have 15\.2 output tokens instead of 18\.0.*\): .*E2E p50, chat streaming, starter at-rate-limit \(−90\.0 %\)/,
    ],
    [
      "twice the tokens may explain why it is slower",
      classes({ responseMs: quantiles(400), outputTokens: 180_000 }),
      "inconclusive",
      /undecided \(the replies have 36\.0 output tokens instead of 18\.0.*\): .*E2E p50, chat streaming, starter at-rate-limit \(×10\.0\)/,
    ],
    [
      "twice the tokens do not explain a later first token",
      classes({ ttftMs: quantiles(400), outputTokens: 180_000 }),
      "regressed",
      /TTFT p50, chat streaming, starter at-rate-limit went from 10\.0 to 400\.0 ms/,
    ],
    [
      "p99 and gaps times 2.4 may be a regression",
      classes({ responseMs: { ...quantiles(40), p99: 192 }, eventGapMs: quantiles(48) }),
      "inconclusive",
      /undecided \(separate runs of one build may differ by up to 2\.5 times\): .*event gap p50, chat streaming, starter at-rate-limit \(\+140\.0 %\)/,
    ],
    [
      "a figure that is lost",
      classes({ ttftMs: null }),
      "inconclusive",
      /undecided \(lost.*\): .*TTFT p50, chat streaming/,
    ],
    ["a class that is lost", classes(), "inconclusive", /undecided \(lost.*\): .*E2E p50, .* and 2 more metrics/],
    [
      "a class with 29 samples",
      classes({ count: 29, outputTokens: 29 * 18 }),
      "inconclusive",
      /it has 29 samples, and 30 are needed/,
    ],
  ])("%s", (_what, now, verdict, says) => {
    const found = compared(withLoad(tier(40)), withLoad(tier(40, now)));
    expect(found.verdict).toBe(verdict);
    expect(textsOf(found).join("\n")).toMatch(says);
  });

  test("29 samples in both runs decide nothing", () => {
    const few = tier(40, classes({ count: 29, outputTokens: 29 * 18 }));
    expect(compared(withLoad(few), withLoad(few)).verdict).toBe("inconclusive");
  });

  test("replies without token counts are not called faster", () => {
    const uncounted = { stream: false, ttftMs: null, eventGapMs: null, outputTokens: 0 };
    const found = compared(
      withLoad(tier(40, classes(uncounted))),
      withLoad(tier(40, classes({ ...uncounted, responseMs: quantiles(4) }))),
    );
    expect(found.verdict).toBe("inconclusive");
    expect(textsOf(found).join("\n")).toMatch(/the output tokens of the replies are not known/);
  });

  test.each<[now: Status, verdict: Comparison["verdict"], kind: keyof Comparison["checks"]]>([
    ["warn", "regressed", "worse"],
    ["fail", "regressed", "newlyFailing"],
    ["not-applicable", "inconclusive", "lost"],
    ["blocked", "inconclusive", "lost"],
    ["inconclusive", "inconclusive", "lost"],
    ["harness-error", "inconclusive", "lost"],
    ["observed", "inconclusive", "lost"],
  ])("a check that passed and is now %s: %s", (now, verdict, kind) => {
    const kept = result("auth.b", "pass");
    const found = compared(
      recordOf([result("auth.a", "pass"), kept], { verdict: PASS }),
      recordOf([result("auth.a", now), kept], { verdict: PASS }),
    );
    expect(found.verdict).toBe(verdict);
    expect(found.checks[kind]).toMatchObject([{ id: "auth.a", before: "pass", now }]);
    expect(textsOf(found).join("\n")).toContain("auth.a");
  });

  test("a check that was selected and has vanished is a regression", () => {
    const found = compared(
      recordOf([result("auth.a", "pass"), result("auth.b", "pass")]),
      recordOf([result("auth.b", "pass")], { notSelected: [] }),
    );
    expect(found.verdict).toBe("regressed");
    expect(found.checks.vanished).toMatchObject([{ id: "auth.a" }]);
  });

  test("checks that a run did not select are counted, not lost", () => {
    const others = [
      result("auth.b", "pass", { exchanges: ["x00002"] }),
      result("chat.c", "fail", { exchanges: ["x00003"] }),
    ];
    const full = recordOf([result("auth.a", "pass"), ...others], { notSelected: [] });
    const quick = recordOf([result("auth.a", "pass")], { notSelected: ["auth.b", "chat.c"] });
    const shorter = compared(full, quick);
    expect(shorter.verdict).toBe("not worse");
    expect(textsOf(shorter)).toEqual(["not compared: 2 check instances that only the first run selected"]);
    const longer = compared(quick, full);
    expect(longer.verdict).toBe("not worse");
    expect(longer.checks.newlyFailing).toEqual([]);
    expect(textsOf(longer)).toEqual(["not compared: 2 check instances that only the second run selected"]);
  });

  test("checks of another version of the harness are not compared", () => {
    const found = compared(
      recordOf([result("auth.a", "pass"), result("auth.renamed", "pass")]),
      recordOf([result("auth.a", "pass")], {
        notSelected: [],
        harness: { name: "gateway-gauntlet", version: "0.2.0" },
      }),
    );
    expect(found).toMatchObject({ verdict: "not worse", checks: { vanished: [], notCompared: { onlyA: 1 } } });
  });

  test("a load run and a conformance run have nothing in common", () => {
    const load = withLoad(tier(40));
    const conform = recordOf([result("auth.a", "pass")], { notSelected: [] });
    for (const [a, b] of [
      [load, conform],
      [conform, load],
    ] as const) {
      const found = compared(a, b);
      expect(found.verdict).toBe("inconclusive");
      expect(found.checks).toMatchObject({ vanished: [], lost: [], newlyFailing: [] });
      expect(textsOf(found).join("\n")).toMatch(
        /the two runs have no decided check or figure in common[\s\S]*not compared: load starter/,
      );
    }
  });

  test("a load that only one of two runs has is not lost", () => {
    const own = [result("auth.a", "pass")];
    const found = compared(
      recordOf(own, { notSelected: [], load: { runs: [tier(40)] } }),
      recordOf(own, { notSelected: [] }),
    );
    expect(found).toMatchObject({ verdict: "not worse", checks: { vanished: [] } });
    expect(textsOf(found).join("\n")).toMatch(/not compared: load starter, which only the first run has/);
  });

  test("a check that no longer applies is lost together with its findings", () => {
    const passed = { ...result("upstream.a", "pass"), findings: [finding("met")] };
    const found = compared(
      recordOf([passed, result("auth.a", "pass")], { verdict: PASS }),
      recordOf([result("upstream.a", "not-applicable"), result("auth.a", "pass")], { verdict: PASS }),
    );
    expect(found).toMatchObject({ verdict: "inconclusive", checks: { vanished: [], lost: [{ id: "upstream.a" }] } });
  });

  test("shorter replies are a regression on any machine, and with any generator", () => {
    const late = { ...tier(40).generator, valid: false, problems: ["late"] };
    const short = withLoad(tier(40, classes({ outputTokens: 9_000 }), { generator: late }));
    expect(compared(withLoad(tier(40)), short).verdict).toBe("regressed");
  });

  test("without anything that both decided, the result is inconclusive", () => {
    const open = recordOf([result("auth.a", "blocked"), result("auth.b", "inconclusive")]);
    expect(compared(open, open)).toMatchObject({
      verdict: "inconclusive",
      reasons: [{ text: "the two runs have no decided check or figure in common", status: "inconclusive" }],
    });
    expect(compared(recordOf([]), recordOf([])).verdict).toBe("inconclusive");
  });

  test("times and ids do not count as behaviour", () => {
    const observed = (text: string) => ({
      ...result("robustness.large-body", "observed"),
      findings: [madeFinding({ requirements: ["SPEND-14"], observed: text })],
    });
    const drift = (before: string, now: string) =>
      compared(recordOf([observed(before)]), recordOf([observed(now)])).drift.length;
    expect(drift('{"status":"200","ms":6}', '{"status":"200","ms":74}')).toBe(0);
    expect(drift("first byte after 12.5 ms", "first byte after 1 s")).toBe(0);
    expect(drift("6663 of 6663 responses carry a request id", "12 of 12 responses carry a request id")).toBe(0);
    expect(drift("6663 of 6663 responses carry a request id", "11 of 12 responses carry a request id")).toBe(1);
    expect(drift('{"status":"200","ms":6}', '{"status":"413","ms":6}')).toBe(1);
  });
});
