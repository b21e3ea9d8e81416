import { expect, test } from "vitest";
import { acceptBaseline, againstBaseline } from "../../src/policy/index.ts";
import type { Comparison, JudgedRun, RunRecord, Status } from "../../src/record/index.ts";
import { loadClass, loadPhase, loadRun, quantiles } from "../support/load-records.ts";
import { recordOf, result, textsOf } from "../support/records.ts";

const conform = (statuses: Readonly<Record<string, Status>>, notSelected: string[] = []): RunRecord =>
  recordOf(
    Object.entries(statuses).map(([id, status]) => result(id, status)),
    { notSelected },
  );
const BOTH = conform({ "auth.a": "pass", "auth.b": "pass" });

test.each<[what: string, now: RunRecord, verdict: Comparison["verdict"], checks: object]>([
  ["the same", BOTH, "not worse", { lost: [], vanished: [] }],
  ["a warning", conform({ "auth.a": "warn", "auth.b": "pass" }), "regressed", { worse: [{ id: "auth.a" }] }],
  [
    "no longer applicable",
    conform({ "auth.a": "not-applicable", "auth.b": "pass" }),
    "inconclusive",
    { lost: [{ id: "auth.a" }] },
  ],
  ["gone", conform({ "auth.b": "pass" }), "regressed", { vanished: [{ id: "auth.a" }] }],
  ["not selected", conform({ "auth.b": "pass" }, ["auth.a"]), "not worse", { vanished: [], notCompared: { onlyA: 1 } }],
])("a run compared with the baseline: %s", (_what, now, verdict, checks) => {
  expect(againstBaseline(now, acceptBaseline(undefined, BOTH))).toMatchObject({ verdict, checks });
});

const withLoad = (run: JudgedRun): RunRecord => recordOf([], { load: { runs: [run] } });
const growth = (ttftMs: number, outputTokens = 90_000) =>
  withLoad(
    loadRun("growth", {
      phases: [loadPhase("soak", { classes: [loadClass({ ttftMs: quantiles(ttftMs), outputTokens })] })],
      retryAfter: null,
    }),
  );

test.each<[what: string, now: RunRecord, verdict: Comparison["verdict"], says: RegExp]>([
  ["the same", growth(90), "not worse", /^$/],
  [
    "an undecided figure",
    growth(180),
    "inconclusive",
    /ttft_ms\{\S+\} p50 is not decided: separate runs of one build may differ by up to 2\.5 times/,
  ],
  [
    "shorter replies",
    growth(90, 9_000),
    "regressed",
    /tokens_per_reply\{\S+\} regressed: the replies are much shorter/,
  ],
])("a load compared with the baseline: %s", (_what, now, verdict, says) => {
  const found = againstBaseline(now, acceptBaseline(undefined, growth(90)));
  expect(found.verdict).toBe(verdict);
  expect(textsOf(found).join("\n")).toMatch(says);
});

test("a quantile with too few samples is not stored under the value of a lower one", () => {
  const { figures } = figuresOfFew();
  const names = Object.keys(figures).filter((name) => name.startsWith("ttft_ms"));
  expect(names.map((name) => name.split(" ")[1])).toEqual(["p50"]);
});

/** Thirty requests: enough for p50 alone. */
function figuresOfFew() {
  const few = loadClass({
    count: 30,
    ttftMs: { ...quantiles(90), intervals: { p50: [85, 95], p90: [120, 180], p95: null, p99: null, p999: null } },
  });
  const run = loadRun("few", { phases: [loadPhase("steady", { classes: [few] })], retryAfter: null });
  const [stored] = acceptBaseline(undefined, withLoad(run)).performance;
  if (stored === undefined) throw new Error("nothing was stored");
  return stored;
}

test("a share compared with the baseline: as two runs, not as a run and an exact value", () => {
  const sent = (failed: number) =>
    withLoad(loadRun("growth", { phases: [loadPhase("soak", { sent: 240, offered: 240, failed })], retryAfter: null }));
  const before = acceptBaseline(undefined, sent(0));
  expect(againstBaseline(sent(2), before).verdict).toBe("inconclusive");
  expect(againstBaseline(sent(20), before).verdict).toBe("regressed");
  expect(againstBaseline(sent(0), before).verdict).toBe("not worse");
});
