import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextGuess } from "../../../src/load/analysis/capacity/find-capacity.ts";
import { frontierOf, pointOf } from "../../../src/load/analysis/capacity/frontier.ts";
import { judgeLevel } from "../../../src/load/analysis/capacity/judge-level.ts";
import { assertMeasurable, parseObjective } from "../../../src/load/analysis/capacity/objective.ts";
import { search } from "../../../src/load/analysis/capacity/search.ts";
import { HOLD_S, searchPlanOf, searchSeconds } from "../../../src/load/analysis/capacity/search-time.ts";
import { Histogram } from "../../../src/metrics/index.ts";
import { loadClass, loadPhase, quantiles } from "../../support/load-records.ts";

describe("an objective", () => {
  test("is read, and rejects denials by default", () => {
    expect(parseObjective("ttft_ms p99 < 800, failed < 0.1%")).toMatchObject([
      { kind: "quantile", figure: "ttft", quantile: 0.99, belowMs: 800 },
      { kind: "share", of: "failed", below: 0.001 },
      { kind: "share", of: "denied", below: 0.001 },
      { kind: "share", of: "dropped", below: 0.001 },
    ]);
    expect(parseObjective("failed < 1%, denied < 5%, dropped < 0.5")).toHaveLength(3);
  });

  test.each(["", "ttft_ms < 800", "ttft_ms p42 < 1", "toString p99 < 1", "failed > 1%"])("refuses %j", (text) => {
    expect(() => parseObjective(text)).toThrow(/is not a clause of an objective/);
  });

  describe("is rejected if the mix cannot measure it", () => {
    const entry = {
      dialect: "chat",
      stream: false,
      model: undefined,
      promptTokens: 20,
      maxTokens: 64,
      weight: 1,
    } as const;
    const stream = { ...entry, stream: true };
    test.each([
      ["ttft_ms p99 < 800", [entry], /applies only to streams/],
      ["event_gap_ms p50 < 80", [entry], /applies only to streams/],
      ["event_gap_ms p50 < 80", [entry, { ...stream, maxTokens: 1 }], /two tokens/],
    ])("%s", (text, mix, why) => expect(() => assertMeasurable(parseObjective(text), mix)).toThrow(why));

    test.each([
      ["response_ms p99 < 800, failed < 1%", [entry]],
      ["ttft_ms p99 < 800", [entry, stream]],
      ["event_gap_ms p99 < 80, per_token_ms p50 < 60", [stream]],
    ])("but not %s", (text, mix) => expect(() => assertMeasurable(parseObjective(text), mix)).not.toThrow());
  });

  test("too few samples are uncertain, many are certain", () => {
    const clauses = parseObjective("ttft_ms p99 < 100, failed < 50%");
    const outcome = (fast: number, slow: number) => {
      const histogram = new Histogram();
      for (let count = 0; count < fast; count++) histogram.record(20_000);
      for (let count = 0; count < slow; count++) histogram.record(500_000);
      const tagged = { tag: "capacity.chat.stream.admitted.ttft", histogram, startMs: 0, endMs: 1 };
      const phase = { offered: fast + slow, failed: 0, denied: 0, dropped: 0 };
      return judgeLevel(clauses, phase, [tagged])[0];
    };
    expect(outcome(50, 0)).toMatchObject({ met: true, sure: false });
    expect(outcome(2_000, 0)).toMatchObject({ met: true, sure: true });
    expect(outcome(1_000, 100)).toMatchObject({ met: false, sure: true });
    expect(outcome(98, 2)).toMatchObject({ met: false, sure: false });
  });

  test("what was never measured is not met", () => {
    const phase = { offered: 10, failed: 10, denied: 0, dropped: 0 };
    const [ttft, failed] = judgeLevel(parseObjective("ttft_ms p99 < 1, failed < 1%"), phase, []);
    expect([ttft?.met, failed?.met]).toEqual([false, false]);
  });
});

test("the frontier: each level once, the longest, with the figures of the objective and their intervals", () => {
  const clauses = parseObjective("ttft_ms p99 < 100, failed < 1%").map((clause, index) => ({
    ...clause,
    met: index !== 1,
  }));
  const at = (level: number, durationS: number, p99: number) => {
    const intervals = {
      p50: null,
      p90: null,
      p95: null,
      p99: [p99 - 5, p99 + 9] satisfies [number, number],
      p999: null,
    };
    const ttftMs = { ...quantiles(p99 / 2), intervals };
    const classes = [loadClass({ ttftMs: quantiles(p99 / 4) }), loadClass({ stream: true, ttftMs })];
    const phase = loadPhase("capacity", { durationS, offered: 1_000, failed: 20, classes });
    return pointOf({ level, met: p99 < 100 }, clauses, phase);
  };
  const frontier = frontierOf([at(8, 10, 90), at(16, 10, 140), at(4, 10, 60), at(8, 75, 92)]);
  expect(frontier.map(({ level, durationS, met }) => [level, durationS, met])).toEqual([
    [4, 10, true],
    [8, 75, true],
    [16, 10, false],
  ]);
  const [ttft, failed, denied] = frontier[1]?.figures ?? [];
  expect(ttft).toEqual({ clause: "ttft_ms p99 < 100", met: true, value: 92, interval: [87, 101] });
  expect(failed).toMatchObject({
    met: false,
    value: 0.02,
    interval: [expect.closeTo(0.013, 3), expect.closeTo(0.0307, 3)],
  });
  expect(denied).toMatchObject({ value: 0, interval: [0, expect.closeTo(0.0038, 3)] });
});

test("the search ends within five percent of any capacity, never above it", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.double({ min: 1, max: 900, noNaN: true }),
      fc.double({ min: 1, max: 500, noNaN: true }),
      async (capacity, from) => {
        let measured = 0;
        const { best, beyond } = await search({ from, to: 1_000, within: 0.05, whole: false }, async (level) => {
          measured++;
          return { level, met: level <= capacity };
        });
        expect(best?.level).toBeLessThanOrEqual(capacity);
        expect(beyond?.level).toBeGreaterThan(capacity);
        expect(best?.level).toBeGreaterThanOrEqual((beyond?.level ?? 0) * 0.95 - 1e-9);
        expect(measured).toBeLessThan(30);
      },
    ),
  );
});

test("the time of a search covers every limit in its range, and depends on the declared rate", async () => {
  const limits = { rpm: 300, inFlight: 64 };
  const range = { unit: "rate", from: 1.25, to: 6, stepS: 10, limits } as const;
  // Three levels below the declared 5/s, and those of 75 s above it.
  expect(await searchSeconds({ ...range, to: 5 })).toBeGreaterThanOrEqual(3 * 10 + HOLD_S);
  const long = await searchSeconds(range);
  for (let limit = range.from; limit <= range.to; limit *= 1.07) {
    let takenS = 0;
    const found = await search(searchPlanOf(range), async (level) => {
      const met = level <= limit;
      takenS += level > 5 ? HOLD_S + (met ? 0 : 61) : 10;
      return { level, met };
    });
    expect(takenS + ((found.best?.level ?? 0) > 5 ? 0 : HOLD_S)).toBeLessThanOrEqual(long);
  }
  expect(await searchSeconds({ ...range, limits: undefined })).toBeLessThan(long);
});

test("whole levels: exactly the last one that meets it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 19 }), async (capacity) => {
      const plan = { from: 4, to: 64, within: 0.05, whole: true };
      const { best } = await search(plan, async (level) => ({ level, met: level <= capacity }));
      expect(best?.level).toBe(capacity);
    }),
  );
});

test("a level that could not be held leads to a lower estimate, which is not confirmed yet", () => {
  const best = { level: 14.5, met: true };
  expect(nextGuess(best, { admittedPerS: 5 }, "rate")).toEqual({ level: 4.85, met: false });
  expect(nextGuess(best, { admittedPerS: 20 }, "rate").level).toBeCloseTo(14.065, 3);
  expect(nextGuess({ level: 8, met: true }, { admittedPerS: 5 }, "streams")).toEqual({ level: 7, met: false });
});
