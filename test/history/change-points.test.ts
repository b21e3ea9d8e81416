import { describe, expect, test } from "vitest";
import { seededRandom } from "../../src/core/index.ts";
import { changesOf } from "../../src/history/change-points.ts";

const SPREAD = 0.05;

/** Normal noise; with outliers, one of ten values is four standard deviations higher. */
function noise(seed: number, { outliers = false } = {}): () => number {
  const random = seededRandom(seed);
  return () => {
    const value = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return SPREAD * (outliers && random() < 0.1 ? value + 4 : value);
  };
}

interface Simulated {
  readonly runs: number;
  readonly metrics: number;
  /** Of the newest three runs, in standard deviations. */
  readonly step: number;
  readonly outliers?: boolean;
}

/** Share of 100 series in which a change is found. */
function foundIn({ runs, metrics, step, outliers = false }: Simulated): number {
  const next = noise(runs * 1_000 + metrics * 10 + step, { outliers });
  let found = 0;
  for (let round = 0; round < 100; round++) {
    const values = Array.from({ length: runs }, (_, index) => next() + (index >= runs - 3 ? step * SPREAD : 0));
    const changes = changesOf(values, metrics);
    if (step === 0 ? changes.length > 0 : changes.some(({ index }) => Math.abs(index - (runs - 3)) <= 1)) found++;
  }
  return found / 100;
}

test.each<Simulated>([
  { runs: 8, metrics: 1, step: 0 },
  { runs: 20, metrics: 20, step: 0 },
  { runs: 50, metrics: 1, step: 0 },
  { runs: 20, metrics: 1, step: 0, outliers: true },
])("$runs runs without a change, outliers: $outliers: at most 4 of 100 false alarms", (simulated) => {
  expect(foundIn(simulated)).toBeLessThanOrEqual(0.04);
});

test.each<Simulated & { readonly min: number }>([
  { runs: 8, metrics: 1, step: 5, min: 0.85 },
  { runs: 20, metrics: 1, step: 3, min: 0.6 },
  { runs: 20, metrics: 20, step: 5, min: 0.85 },
  { runs: 50, metrics: 20, step: 5, min: 0.9 },
])("$runs runs, $metrics metrics: a step of $step deviations in the newest three is found", ({ min, ...simulated }) => {
  expect(foundIn(simulated)).toBeGreaterThanOrEqual(min);
});

/** This many similar values. */
const around = (value: number, count: number) =>
  Array.from({ length: count }, (_, index) => value * (1 + 0.02 * (((index * 7) % 5) / 5 - 0.4)));

describe("where a series changed", () => {
  test.each<[what: string, values: number[], at: number[]]>([
    ["too few values", [1, 1, 9, 9], []],
    ["all the same", Array(12).fill(3), []],
    ["no noise at all: one step", [1, 1, 1, 1, 1, 1, 2, 2, 2, 2], [6]],
    ["one outlier is not a change", [1, 1.01, 0.99, 1, 1.01, 1, 0.99, 1, 1, 9], []],
    ["up and down again", [1, 1.01, 0.99, 1, 1.01, 0.99, 3, 3.02, 2.98, 3, 3.01, 1, 1.01, 0.99, 1, 1.01], [6, 11]],
    [
      "an incident that is over hides no later change",
      [...around(1, 10), ...around(1.5, 5), ...around(1, 10), ...around(1.5, 3)],
      [10, 15, 25],
    ],
  ])("%s", (_what, values, at) => {
    expect(changesOf(values, 1).map(({ index }) => index)).toEqual(at);
  });
});
