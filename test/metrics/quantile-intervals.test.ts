import { describe, expect, test } from "vitest";
import { seededRandom } from "../../src/core/index.ts";
import { BlockCounts, CountBlocks, Histogram, quantileIntervals } from "../../src/metrics/index.ts";
import { DISTRIBUTIONS, type DistributionName, simulatedRun, trueQuantilesMs } from "../support/simulated-latencies.ts";

const SHARES = { p50: 0.5, p90: 0.9, p99: 0.99 } as const;
/** `npm run verify intervals` simulates 200. */
const RUNS = 60;

describe("intervals of quantiles", () => {
  test.each(Object.keys(DISTRIBUTIONS) as DistributionName[])("hold the true value of a %s distribution", (name) => {
    const truth = trueQuantilesMs(name, Object.values(SHARES));
    const [held, judged] = [
      [0, 0, 0],
      [0, 0, 0],
    ];
    for (let seed = 0; seed < RUNS; seed++) {
      const [entry] = simulatedRun(name, { seed, requests: 4_000, ratePerS: 100 }).close(0).classes;
      for (const [index, quantile] of (["p50", "p90", "p99"] as const).entries()) {
        const interval = entry?.responseMs?.intervals?.[quantile];
        if (interval === undefined || interval === null) continue;
        judged[index] = (judged[index] ?? 0) + 1;
        const [low, high] = interval;
        const value = truth[index] ?? 0;
        if (low <= value && value <= high) held[index] = (held[index] ?? 0) + 1;
      }
    }
    // This many values support a p50 and a p90 whatever their distribution; they do not support a p99 if the values of a minute
    // are correlated.
    expect(judged.slice(0, 2)).toEqual([RUNS, RUNS]);
    for (const [index, count] of judged.entries()) expect(held[index]).toBeGreaterThanOrEqual(0.85 * count);
    if (name === "autocorrelated") expect(judged[2]).toBeLessThan(RUNS / 10);
    else expect(judged[2]).toBe(RUNS);
  });

  test("are wider if neighbours correlate, and not wider if the same values are shuffled", () => {
    const [apart, ordered] = [new BlockCounts(), new BlockCounts()];
    const histogram = new Histogram();
    const random = seededRandom(5);
    for (let index = 0; index < 10_000; index++) {
      const us = 1_000 * (1 + Math.floor(index / 500));
      histogram.record(us);
      apart.record(us, random() * 60_000_000);
    }
    // Twenty levels of 3 s each, in an order without a trend.
    for (let index = 0; index < 10_000; index++) {
      const level = (Math.floor(index / 500) * 7) % 20;
      ordered.record(1_000 * (1 + level), index * 6_000);
    }
    const width = (blocks: BlockCounts) => {
      const [low, high] = quantileIntervals(histogram, blocks).p50 ?? [0, 0];
      return high - low;
    };
    expect(width(apart)).toBeLessThanOrEqual(1.1);
    expect(width(ordered)).toBeGreaterThan(4);
  });

  test.each([
    [5, "p50", false],
    [6, "p50", true],
    [35, "p90", false],
    [37, "p90", true],
    [367, "p99", false],
    [370, "p99", true],
  ] as const)("of %i samples: %s is supported: %s", (count, quantile, isSupported) => {
    const [histogram, blocks] = [new Histogram(), new BlockCounts()];
    for (let index = 0; index < count; index++) {
      histogram.record(1_000 + index);
      // All at the same moment: no blocks could be correlated.
      blocks.record(1_000 + index, 0);
    }
    expect(quantileIntervals(histogram, blocks)[quantile] !== null).toBe(isSupported);
  });
});

describe("counts by blocks of time", () => {
  test("merged are what one would have counted, however long each was", () => {
    const whole = new BlockCounts();
    const parts = [new BlockCounts(), new BlockCounts()];
    for (let index = 0; index < 2_000; index++) {
      const [us, atUs] = [1_000 + (index % 90) * 37, index * 50_000];
      whole.record(us, atUs);
      // The second does not include the last half: its blocks are narrower.
      parts[index < 1_000 ? index % 2 : 0]?.record(us, atUs);
    }
    const merged = new BlockCounts();
    for (const part of parts) merged.merge(JSON.parse(JSON.stringify(part.store())));
    const shares = [0.1, 0.5, 0.9];
    expect(merged.atQuantiles(shares)).toEqual(whole.atQuantiles(shares));
    expect(merged.histogram().quantilesMs()).toEqual(whole.histogram().quantilesMs());
  });

  test("keep a value to half a percent, and can be cut to a part of the time", () => {
    const blocks = new BlockCounts();
    for (let index = 0; index < 6_000; index++) blocks.record(index < 3_000 ? 1_000_000 : 123_456, index * 10_000);
    const late = blocks.between(30_000_000, 60_000_000).histogram().quantilesMs();
    expect(Math.abs((late?.p50 ?? 0) / 123.456 - 1)).toBeLessThan(0.005);
  });

  test("the more even a rate, the narrower its interval, which contains the rate", () => {
    const even = new CountBlocks<"sent">();
    const chance = new CountBlocks<"sent">();
    const random = seededRandom(3);
    for (let index = 0; index < 6_000; index++) {
      even.count("sent", index * 10_000);
      chance.count("sent", random() * 60_000_000);
    }
    const [low, high] = even.rateInterval("sent", 60) ?? [];
    const [below, above] = chance.rateInterval("sent", 60) ?? [];
    expect([low, high]).toEqual([expect.closeTo(100, 0), expect.closeTo(100, 0)]);
    // 6,000 expected: within 77 of that by chance, 1.96 standard deviations.
    expect((above ?? 0) - (below ?? 0)).toBeGreaterThan(3);
    expect((above ?? 0) - (below ?? 0)).toBeLessThan(8);
    expect(new CountBlocks<"failed">().rateInterval("failed", 60)).toEqual([0, expect.closeTo(3.84 / 60, 2)]);
  });

  test("failures in one burst count for fewer than the same number at random times", () => {
    const counts = new CountBlocks<"admitted" | "failed">();
    for (let index = 0; index < 6_000; index++)
      counts.count(index >= 3_000 && index < 3_300 ? "failed" : "admitted", index * 10_000);
    expect(counts.effectiveCount("failed", ["admitted", "failed"], 60)).toBeLessThan(600);
  });
});
