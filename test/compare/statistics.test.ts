import { describe, expect, test } from "vitest";
import { roundOrders } from "../../src/compare/pair-order.ts";
import { holm, minPairsFor, newcombe, pairedInterval, signFlipP } from "../../src/compare/paired.ts";
import { deviation } from "../../src/core/index.ts";
import { tQuantile } from "../../src/core/statistics/student-t.ts";
import { GOLDEN } from "./golden.ts";

describe("against another implementation", () => {
  test.each(GOLDEN.t.map(([share, df, value]) => [share, df, value] as const))("t(%d, %d)", (share, df, value) => {
    expect(tQuantile(share, df) / value).toBeCloseTo(1, 9);
    expect(tQuantile(1 - share, df)).toBeCloseTo(-value, 6);
  });

  test.each(Object.entries(GOLDEN.sets))("sign flips and spread: %s", (name, differences) => {
    expect(signFlipP(differences, 1)).toBe(GOLDEN.perm[name as keyof typeof GOLDEN.perm]);
    expect(deviation(differences)).toBeCloseTo(GOLDEN.sd[name as keyof typeof GOLDEN.sd], 12);
  });

  test.each([
    ["small", GOLDEN.boott_small_90],
    ["ten", GOLDEN.boott_ten_90],
  ] as const)("studentised bootstrap: %s", (name, [low, high]) => {
    const width = high - low;
    for (const seed of [1, 2, 3]) {
      const made = pairedInterval(GOLDEN.sets[name], { confidence: 0.9, seed });
      // Ten thousand resamples determine the ends to a few hundredths of the width.
      expect(Math.abs(made.low - low) / width).toBeLessThan(0.05);
      expect(Math.abs(made.high - high) / width).toBeLessThan(0.05);
    }
  });

  test("Holm", () => {
    const [given, corrected] = GOLDEN.holm;
    for (const [index, value] of holm(given).entries()) expect(value).toBeCloseTo(corrected[index] ?? Number.NaN, 12);
  });

  test.each(GOLDEN.newcombe.map((row) => [...row] as const))("Newcombe: %d of %d, %d of %d", (...requirement) => {
    const [a, n, b, m, confidence, low, high] = requirement;
    const made = newcombe({ count: a, of: n }, { count: b, of: m }, confidence);
    expect(made.low).toBeCloseTo(low, 8);
    expect(made.high).toBeCloseTo(high, 8);
  });
});

test("many pairs are flipped at random, close to the exact value", () => {
  const twenty = [...GOLDEN.sets.none, ...GOLDEN.sets.none.map((value) => -value * 1.3)];
  expect(signFlipP(twenty, 3)).toBeCloseTo(0.66, 0);
  expect(
    signFlipP(
      GOLDEN.sets.ten.flatMap((value) => [value, value]),
      3,
    ),
  ).toBeLessThan(0.0005);
});

test("equal sides have an interval of zero width and a p of 1", () => {
  expect(pairedInterval([0, 0, 0, 0, 0, 0], { confidence: 0.9, seed: 1 })).toEqual({ low: 0, high: 0 });
  expect(signFlipP([0, 0, 0, 0, 0, 0], 1)).toBe(1);
});

test.each([
  [1, 6],
  [2, 7],
  [6, 8],
  [12, 9],
  [25, 10],
])("%d figures need %d pairs", (figures, pairs) => {
  expect(minPairsFor(figures)).toBe(pairs);
  // This many pairs can reach 5 % after correction; one fewer cannot.
  expect(2 ** (1 - pairs) * figures).toBeLessThanOrEqual(0.05);
});

test("orders are shuffled and balanced: every build is equally often in every position", () => {
  for (const seed of [1, 2, 3]) {
    const orders = roundOrders(12, seed);
    for (const place of [0, 1, 2]) {
      for (const name of ["A", "B", "A'"]) {
        expect(orders.filter((order) => order[place] === name)).toHaveLength(4);
      }
    }
  }
  expect(roundOrders(12, 1)).not.toEqual(roundOrders(12, 2));
  expect(roundOrders(12, 1)).toEqual(roundOrders(12, 1));
});
