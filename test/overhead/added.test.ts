import { expect, test } from "vitest";
import { type Random, seededRandom } from "../../src/core/index.ts";
import { addedBetween, type Round } from "../../src/overhead/added.ts";

/** Latencies in µs: a floor, a long tail, and what the machine adds to a whole round. */
function times(count: number, addedUs: number, roundUs: number, random: Random): number[] {
  return Array.from({ length: count }, () => 250 + roundUs + addedUs - 40 * Math.log(1 - random()));
}

function rounds(addedUs: number, seed: number): Round[] {
  const random = seededRandom(seed);
  return Array.from({ length: 16 }, () => {
    // The machine alternates between fast and slow, and differs slightly between two blocks of a round.
    const roundUs = random() * 300;
    const block = () => roundUs + (random() - 0.5) * 20;
    const direct = [...times(120, 0, block(), random), ...times(120, 0, block(), random)];
    return { direct, through: times(80, addedUs, block(), random) };
  });
}

test.each([0, 200, 1_000, 40_000])("%d µs that were added are reported, and lie in the interval", (addedUs) => {
  let covered = { p50: 0, p90: 0, p99: 0 };
  const runs = 60;
  for (let seed = 1; seed <= runs; seed++) {
    const added = addedBetween(rounds(addedUs, seed), { seed, resolutionUs: 0 });
    expect(Math.abs((added.p50.value ?? 0) * 1_000 - addedUs)).toBeLessThan(Math.max(60, addedUs / 10));
    const holds = ({ low, high }: typeof added.p50) =>
      Number((low ?? 0) * 1_000 <= addedUs + 1 && (high ?? 0) * 1_000 >= addedUs - 1);
    covered = {
      p50: covered.p50 + holds(added.p50),
      p90: covered.p90 + holds(added.p90),
      p99: covered.p99 + holds(added.p99),
    };
  }
  // 95 of 100, less the sampling error of 60.
  for (const count of Object.values(covered)) expect(count).toBeGreaterThanOrEqual(52);
});

test("a slow round moves the figure less than its width", () => {
  const usual = rounds(500, 7);
  const [first, ...others] = usual as [Round, ...Round[]];
  const slow = { direct: first.direct, through: first.through.map((value) => value + 20_000) };
  const added = addedBetween([slow, ...others], { seed: 1, resolutionUs: 0 });
  expect(added.p50.value).toBeGreaterThan(0.49);
  expect(added.p50.value).toBeLessThan(0.52);
});

test("too few requests or rounds have no figure", () => {
  const few = rounds(500, 3).map(({ direct, through }) => ({ direct, through: through.slice(0, 2) }));
  expect(addedBetween(few, { seed: 1, resolutionUs: 0 }).p99.value).toBeNull();
  expect(addedBetween(few, { seed: 1, resolutionUs: 0 }).p50.value).not.toBeNull();
  expect(addedBetween(few.slice(0, 3), { seed: 1, resolutionUs: 0 }).p50.value).toBeNull();
  expect(addedBetween([], { seed: 1, resolutionUs: 0 }).p50).toEqual({ value: null, low: null, high: null });
});

test("the interval is wider than the resolution on both sides", () => {
  const { value, low, high } = addedBetween(rounds(0, 5), { seed: 1, resolutionUs: 30 }).p50;
  expect((value ?? 0) - (low ?? 0)).toBeGreaterThanOrEqual(0.03);
  expect((high ?? 0) - (value ?? 0)).toBeGreaterThanOrEqual(0.03);
});
