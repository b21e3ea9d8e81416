import { expect, test } from "vitest";
import { type Block, judgeMetrics, type Pair, together } from "../../src/compare/judge-metrics.ts";
import { roundOrders } from "../../src/compare/pair-order.ts";
import { pairedInterval, signFlipP } from "../../src/compare/paired.ts";
import { type Random, seededRandom } from "../../src/core/index.ts";

/** A machine that drifts slowly (AR(1), 4 %), blocks with jitter (1.2 %), requests with a heavy tail. */
const DRIFT = { phi: 0.8, sd: 0.04 };
const JITTER = 0.012;
const TAIL = 0.5;
const REQUESTS = 2_000;
const PAIRS = 10;
const BASE_MS = 120;
const NAME = "chat streaming ttft_ms";

/** Two independent normal numbers. */
function normals(random: Random): [number, number] {
  const [radius, angle] = [Math.sqrt(-2 * Math.log(1 - random())), 2 * Math.PI * random()];
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
}

/** One block's quantiles, from requests that were really drawn and sorted. */
function block(scale: number, random: Random): Block {
  const values = new Float64Array(REQUESTS);
  for (let index = 0; index < REQUESTS; index += 2) values.set(normals(random), index);
  values.sort();
  const at = (share: number) => scale * Math.exp(TAIL * (values[Math.ceil(share * REQUESTS) - 1] ?? 0));
  return {
    quantiles: { [`${NAME} p50`]: at(0.5), [`${NAME} p95`]: at(0.95), [`${NAME} p99`]: at(0.99) },
    tokensPerReply: { "chat streaming": 16 },
    sent: REQUESTS,
    counts: { denied: 0, failed: 0, invalid: 0 },
    problems: [],
  };
}

/** A session of rounds in the tool's order, of a build against itself. */
function session(seed: number): Pair[] {
  const random = seededRandom(seed * 7_919 + 13);
  let [drift] = normals(random).map((value) => DRIFT.sd * value) as [number];
  return roundOrders(PAIRS, seed).map((order) => {
    const made: Partial<Record<string, Block>> = {};
    for (const name of order) {
      const [step, jitter] = normals(random);
      drift = DRIFT.phi * drift + DRIFT.sd * Math.sqrt(1 - DRIFT.phi ** 2) * step;
      made[name] = block(BASE_MS * Math.exp(drift + JITTER * jitter), random);
    }
    const { A: a, B: b, "A'": again } = made;
    if (a === undefined || b === undefined || again === undefined) throw new Error("a round has three blocks");
    return { a: together(a, again), b };
  });
}

/** Noise is drawn once; a true change scales every request of B, and so each of its quantiles. */
const SESSIONS = Array.from({ length: 200 }, (_, index) => session(index + 1));

function changed(pairs: readonly Pair[], change: number): Pair[] {
  return pairs.map(({ a, b }) => ({
    a,
    b: {
      ...b,
      quantiles: Object.fromEntries(
        Object.entries(b.quantiles).map(([name, value]) => [name, value === null ? null : value * (1 + change)]),
      ),
    },
  }));
}

/** How often this is the verdict on TTFT p95, with this true change. */
function share(change: number, word: string): number {
  const words = SESSIONS.map((pairs, index) => {
    const metrics = judgeMetrics(changed(pairs, change), index);
    return metrics.find(({ name }) => name === `${NAME} p95`)?.verdict;
  });
  return words.filter((entry) => entry === word).length / words.length;
}

test("without a true change: at most 7 % false alarms of interval and test, and none of the verdict", () => {
  let interval = 0;
  let flips = 0;
  for (const [index, pairs] of SESSIONS.entries()) {
    const differences = pairs.map(({ a, b }) =>
      Math.log((b.quantiles[`${NAME} p95`] ?? 1) / (a.quantiles[`${NAME} p95`] ?? 1)),
    );
    const { low, high } = pairedInterval(differences, { confidence: 0.95, seed: index });
    if (low > 0 || high < 0) interval++;
    if (signFlipP(differences, index) < 0.05) flips++;
  }
  expect(interval / SESSIONS.length).toBeLessThanOrEqual(0.07);
  expect(flips / SESSIONS.length).toBeLessThanOrEqual(0.07);
  expect(share(0, "regressed")).toBe(0);
});

test("a change that is just the margin is called a regression in at most 7 %", () => {
  expect(share(0.05, "regressed")).toBeLessThanOrEqual(0.07);
});

test("a true +10 % of TTFT p95 is found with 10 pairs in at least 90 %", () => {
  expect(share(0.1, "regressed")).toBeGreaterThanOrEqual(0.9);
});

test("a true -20 % is found as an improvement", () => {
  expect(share(-0.2, "improved")).toBeGreaterThanOrEqual(0.9);
});
