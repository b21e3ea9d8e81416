import { expect, test } from "vitest";
import { describeComparison, mainFigures } from "../../reports/text/index.ts";
import { compareLive } from "../../src/compare/index.ts";
import type { Block } from "../../src/compare/judge-metrics.ts";
import { seededRandom } from "../../src/core/index.ts";
import type { Comparison, Status } from "../../src/record/index.ts";
import { result, textsOf } from "../support/records.ts";

const PAIRS = 12;

interface Build {
  /** Multiples of the values of the first build. */
  readonly response?: number;
  readonly tail?: number;
  readonly gaps?: number | null;
  readonly tokens?: number;
  /** Spread of the tail from block to block. */
  readonly noise?: number;
  /** Whether every second block has too few requests for a p95. */
  readonly isShort?: boolean;
  readonly checks?: Status;
}

/** Blocks that differ by 1 %, and their tails by more. */
function blockOf(
  { response = 1, tail = 1, gaps = 1, tokens = 1, noise = 0.01, isShort = false }: Build,
  seed: number,
): Block {
  const random = seededRandom(seed);
  const jitter = (spread: number) => 1 + spread * (random() - 0.5);
  const ms = (value: number, factor: number, spread = 0.01) => value * factor * jitter(spread);
  return {
    quantiles: {
      "chat streaming response_ms p50": ms(400, response),
      "chat streaming response_ms p95": ms(500, response),
      "chat streaming response_ms p99": ms(600, response * tail, noise),
      "chat streaming ttft_ms p50": ms(90, response),
      "chat streaming ttft_ms p95": isShort && seed % 2 === 0 ? null : ms(120, response),
      // No block is long enough for this quantile.
      "chat streaming ttft_ms p99": null,
      "chat streaming event_gap_ms p50": gaps === null ? null : ms(20, gaps, noise),
    },
    tokensPerReply: tokens === 0 ? {} : { "chat streaming": 16 * tokens },
    sent: 400,
    counts: { denied: 0, failed: 0, invalid: 0 },
    problems: [],
  };
}

function session(b: Build, a: Build = {}, pairs = PAIRS): Promise<Comparison> {
  const behaviour = ({ checks = "pass" }: Build) => ({ checks: [result("auth.a", checks)], responses: new Map() });
  let seed = 0;
  return compareLive({
    a: { name: "old", label: "a" },
    b: { name: "new", label: "b" },
    pairs,
    seed: 5,
    behaviours: { a: behaviour(a), b: behaviour(b), control: behaviour(a) },
    runBlock: (name) => Promise.resolve(blockOf(name === "B" ? b : a, ++seed * 97)),
    signal: new AbortController().signal,
  });
}

test.each<[what: string, b: Build, verdict: Comparison["verdict"], says: RegExp]>([
  ["the same build", {}, "not worse", /^1 check instance had the same result on both builds$/],
  [
    "a build that is twice as fast",
    { response: 0.5 },
    "improved",
    /E2E p50, chat streaming improved by 49\.\d %|improved by 50/,
  ],
  [
    "twice as fast with a sixteenth of the tokens",
    { response: 0.5, tokens: 1 / 16 },
    "regressed",
    /output tokens per reply, chat streaming regressed by 93\.8 %/,
  ],
  [
    "twice as fast with a sixth fewer tokens",
    { response: 0.5, tokens: 5 / 6 },
    "regressed",
    /output tokens per reply, chat streaming regressed/,
  ],
  [
    "twice as fast with longer replies",
    { response: 0.5, tokens: 1.5 },
    "inconclusive",
    /the replies have 24\.0 output tokens instead of 16\.0: not comparable/,
  ],
  [
    "tokens that are no longer counted",
    { tokens: 0 },
    "inconclusive",
    /output tokens per reply, chat streaming: the second build has no value/,
  ],
  ["a tail of 2.4 times", { tail: 2.4 }, "regressed", /E2E p99, chat streaming regressed/],
  [
    "a tail of 2.4 times that varies widely",
    { tail: 2.4, noise: 1.9 },
    "inconclusive",
    /E2E p99, chat streaming: the whole interval lies beyond the margin, but 12 pairs are too few/,
  ],
  [
    "gaps that are no longer measured",
    { gaps: null },
    "inconclusive",
    /event gap p50, chat streaming: the second build has no value/,
  ],
  ["a check that no longer applies", { checks: "not-applicable" }, "inconclusive", /auth\.a was decided \(pass\)/],
  ["a check that now warns", { checks: "warn" }, "regressed", /auth\.a newly warns/],
])("a session with %s", async (_what, b, verdict, says) => {
  const a = b.noise === undefined ? {} : { noise: b.noise };
  const found = await session(b, a);
  expect(found.control).toMatchObject({ fit: true });
  expect(found.verdict).toBe(verdict);
  expect(textsOf(found).join("\n")).toMatch(says);
});

test("a quantile that only some blocks have is listed with the reason, whatever the verdict", async () => {
  const found = await session({ response: 1.5, isShort: true }, { isShort: true });
  expect(found.verdict).toBe("regressed");
  expect(textsOf(found)).toContain("TTFT p95, chat streaming: too few samples in some blocks");
  expect(describeComparison(found)).toMatch(/; 1 figure is undecided/);
});

test("a quantile for which every block is too short is not listed", async () => {
  const { metrics } = await session({});
  expect(metrics.map(({ name }) => name)).not.toContain("chat streaming ttft_ms p99");
});

test("figures of a session whose control differs are not reasons, and the conclusion says that they are not usable", async () => {
  let block = 0;
  const behaviour = { checks: [result("auth.a", "pass")], responses: new Map() };
  const found = await compareLive({
    a: { name: "old", label: "old" },
    b: { name: "new", label: "new" },
    ...{ pairs: PAIRS, seed: 5, signal: new AbortController().signal },
    behaviours: { a: behaviour, b: behaviour, control: behaviour },
    runBlock: (name) => {
      const response = { A: 1, B: 3, "A'": 2 }[name];
      return Promise.resolve(blockOf({ response }, ++block * 97));
    },
  });
  expect(found).toMatchObject({ verdict: "inconclusive", control: { fit: false } });
  expect(textsOf(found).join("\n")).not.toMatch(/regressed by/);
  expect(describeComparison(found)).toMatch(/^Cannot tell whether new is worse than old: .*figures are not usable\.$/);
});

test("the conclusion is one sentence that names what is worse", async () => {
  expect(describeComparison(await session({ response: 1.5 }))).toMatch(
    /^new is worse than old: \S.* p\d+, chat streaming \(\+\d+\.\d %\) and \d more figures regressed; .*figures are not worse.*\.$/,
  );
});

test("the figure that users notice first leads, whatever the order of the figures", async () => {
  const found = await session({ response: 1.5, gaps: 1.5 });
  for (const metrics of [found.metrics, found.metrics.toReversed()])
    expect(describeComparison({ ...found, metrics })).toMatch(/^new is worse than old: E2E p\d+, chat streaming /);
});

test("with too few rounds, the reason is that chance is not ruled out, and figures beyond their margins are first", async () => {
  const found = await session({ response: 1.6 }, {}, 3);
  expect(found.verdict).toBe("inconclusive");
  expect(textsOf(found).join("\n")).toMatch(
    /the whole interval lies beyond the margin, but 3 pairs are too few to rule out chance; about \d+ pairs would decide it: .*E2E p50, chat streaming/,
  );
  expect(mainFigures(found)).toHaveLength(3);
  for (const figure of mainFigures(found)) expect(figure).toMatch(/\(\+[56]\d\.\d %, undecided\)$/);
});
