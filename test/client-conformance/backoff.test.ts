// real-time: compares durations that it measures
import { describe, expect, test } from "vitest";
import { judgeGrowth, judgeJitter } from "../../src/client-conformance/judges/backoff.ts";
import type { Attempt, ClientRun } from "../../src/client-conformance/observation.ts";
import { type Random, seededRandom } from "../../src/core/index.ts";
import { Verdict } from "../../src/judging/index.ts";

/** Waits of one call of a client, milliseconds. */
type Policy = (random: Random) => number[];

/** Eight runs of a client on a machine that adds up to twice its lag to every wait, and always this much to the first. */
function observe(policy: Policy, random: Random, { lagMs = 5, toFirstMs = 0 } = {}): ClientRun[] {
  return Array.from({ length: 8 }, () => {
    let atMs = 0;
    const gaps = [0, ...policy(random)];
    const attempts = gaps.map((gap, index): Attempt => {
      atMs += index === 0 ? 0 : gap + random() * 2 * lagMs + (index === 1 ? toFirstMs : 0);
      const request = { atMs } as Attempt["request"];
      return { id: `x.${index}`, call: "x", request, response: { beganMs: atMs } as Attempt["response"] };
    });
    const ending = { by: "itself" } as ClientRun["ending"];
    return { attempts, others: [], otherHost: [], lagMs, ending };
  });
}

const doubling = (times: number, baseMs: number, jitter: (wait: number, random: Random) => number): Policy => {
  return (random) => Array.from({ length: times }, (_, index) => jitter(baseMs * 2 ** index, random));
};
const quarter = (wait: number, random: Random) => wait * (0.75 + random() / 4);
const half = (wait: number, random: Random) => wait * (0.5 + random() / 2);
const full = (wait: number, random: Random) => wait * random();
const added = (wait: number, random: Random) => wait + random() * 1_000;
const none = (wait: number) => wait;
const capped =
  (policy: Policy, mostMs: number): Policy =>
  (random) =>
    policy(random).map((wait) => Math.min(wait, mostMs));

const ROUNDS = 2_000;

/** How often the judgement was `met`, `broken` and `observed`, per cent. */
function shares(policy: Policy, judge: typeof judgeGrowth): Record<string, number> {
  const counts: Record<string, number> = { met: 0, broken: 0, observed: 0 };
  const random = seededRandom(7);
  for (let round = 0; round < ROUNDS; round += 1) {
    const verdict = new Verdict();
    judge("RETRY-2", observe(policy, random), verdict);
    const outcome = verdict.findings[0]?.outcome ?? "none";
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return Object.fromEntries(Object.entries(counts).map(([outcome, count]) => [outcome, (100 * count) / ROUNDS]));
}

describe("correct backoff hardly ever fails (RETRY-2, RETRY-9)", () => {
  test.each<[what: string, policy: Policy]>([
    ["two waits with quarter jitter, as the usual SDKs do", doubling(2, 500, quarter)],
    ["three with half jitter", doubling(3, 400, half)],
    ["two with full jitter", doubling(2, 1_000, full)],
    ["four with full jitter", doubling(4, 500, full)],
    ["three with up to a second added", doubling(3, 1_000, added)],
    ["five that reach their cap", capped(doubling(5, 500, quarter), 4_000)],
  ])("%s", (_what, policy) => {
    expect(shares(policy, judgeGrowth)["broken"]).toBeLessThan(0.5);
    // Over 40,000 rounds the worst policy has 0.06 %: one or two of 2,000 rounds.
    expect(shares(policy, judgeJitter)["broken"]).toBeLessThan(0.2);
  });

  test("and usually it passes", () => {
    expect(shares(doubling(2, 500, quarter), judgeGrowth)["met"]).toBeGreaterThan(99);
    expect(shares(doubling(2, 500, quarter), judgeJitter)["met"]).toBeGreaterThan(95);
  });
});

test("a machine that is delayed by more than the waits proves nothing about their growth", () => {
  const random = seededRandom(5);
  const verdict = new Verdict();
  for (let round = 0; round < 200; round += 1)
    judgeGrowth("RETRY-2", observe(doubling(2, 500, quarter), random, { lagMs: 600 }), verdict);
  expect(verdict.broken).toEqual([]);
});

test("a machine with delayed timers hides growth: almost no client fails", () => {
  const random = seededRandom(7);
  let failed = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const verdict = new Verdict();
    judgeGrowth("RETRY-2", observe(doubling(2, 500, quarter), random, { lagMs: 80, toFirstMs: 190 }), verdict);
    if (verdict.findings.some(({ outcome }) => outcome === "broken")) failed++;
  }
  expect(failed / ROUNDS).toBeLessThan(0.005);
});

describe("wrong backoff fails", () => {
  test("waits without jitter", () => {
    expect(shares(doubling(2, 500, none), judgeJitter)["broken"]).toBe(100);
    expect(shares(doubling(3, 200, none), judgeJitter)["broken"]).toBe(100);
  });

  test("waits that do not grow", () => {
    const constant = (jitter: (wait: number, random: Random) => number): Policy => {
      return (random) => [jitter(800, random), jitter(800, random), jitter(800, random)];
    };
    expect(shares(constant(none), judgeGrowth)["broken"]).toBe(100);
    expect(shares(constant(quarter), judgeGrowth)["broken"]).toBe(100);
  });

  test("a single wait cannot show growth", () => {
    expect(shares(doubling(1, 500, quarter), judgeGrowth)["observed"]).toBe(100);
  });
});
