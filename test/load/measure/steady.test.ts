import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../src/core/index.ts";
import { steadyOf } from "../../../src/load/measure/steady.ts";
import type { LoadSecond } from "../../../src/record/index.ts";

interface Shape {
  readonly seconds?: number;
  readonly rate?: (atS: number) => number;
  readonly latencyMs?: (atS: number) => number;
  readonly inFlight?: (atS: number) => number;
  readonly dropped?: (atS: number) => number;
  /** Of streams; `null`: none ended. Without it, nothing is streamed. */
  readonly streamMs?: (atS: number) => number | null;
}

const quantiles = (p50: number) => ({ p50, p95: p50 * 2, p99: p50 * 3 });

/** Seconds of a phase that began 5 s into the run, with random variation in every figure. */
function secondsOf(
  { seconds = 60, rate = () => 100, latencyMs = () => 200, inFlight, dropped, streamMs = () => null }: Shape,
  seed = 1,
): LoadSecond[] {
  const random = seededRandom(seed);
  const noise = (share: number) => 1 + share * (random() + random() - 1);
  return Array.from({ length: seconds }, (_, index) => {
    const [count, p50] = [Math.round(rate(index) * noise(0.15)), latencyMs(index) * noise(0.1)];
    const streamed = streamMs(index);
    const responseByModeMs = {
      streaming: streamed === null ? null : quantiles(streamed * noise(0.1)),
      nonStreaming: quantiles(p50),
    };
    const flight = Math.round((inFlight?.(index) ?? (count * p50) / 1_000) * noise(0.1));
    return {
      ...{ atS: 5 + index, sent: count, admitted: count, denied: 0, failed: 0, invalid: 0 },
      ...{ offered: count + (dropped?.(index) ?? 0), dropped: dropped?.(index) ?? 0 },
      ...{ inFlight: flight, responseByModeMs, ttftMs: null },
    };
  });
}

describe("where a phase is steady", () => {
  test("throughout, when nothing changes but by chance: in 95 of 100 runs", () => {
    const found = Array.from({ length: 100 }, (_, seed) => steadyOf(secondsOf({}, seed), 5));
    expect(found.filter(({ kind, fromS }) => kind === "steady" && fromS === 5).length).toBeGreaterThanOrEqual(95);
  });

  test("from the end of a warm-up on", () => {
    const warm = secondsOf({ latencyMs: (atS) => 200 + 800 * Math.exp(-atS / 3) });
    const steady = steadyOf(warm, 5);
    expect(steady.kind).toBe("steady");
    expect(steady.fromS).toBeGreaterThan(8);
    expect(steady.fromS).toBeLessThan(22);
    expect(steady.toS).toBe(64);
  });

  test("a rate that increases gradually is a warm-up, too", () => {
    const steady = steadyOf(secondsOf({ rate: (atS) => Math.min(100, 10 + atS * 10) }), 5);
    expect(steady).toMatchObject({ kind: "steady", fromS: expect.any(Number) });
    expect(steady.fromS).toBeGreaterThanOrEqual(12);
  });

  test.each<[string, Shape]>([
    ["drift", { latencyMs: (atS) => 200 * (1 + atS / 60) }],
    ["drift", { latencyMs: (atS) => 400 - 3 * atS }],
    ["drift", { latencyMs: (atS) => (atS < 45 ? 200 : 300) }],
    ["ramp", { rate: (atS) => 50 + atS }],
    // A closed loop sends less because the gateway becomes slower.
    ["drift", { rate: (atS) => 100 - atS / 2, latencyMs: (atS) => 200 * (1 + atS / 60) }],
    ["growth", { latencyMs: (atS) => 200 + 100 * atS, inFlight: (atS) => 20 + 10 * atS }],
    // As many in flight as the limit allows: further arrivals are dropped.
    ["growth", { latencyMs: (atS) => Math.min(4_000, 200 + 200 * atS), dropped: (atS) => (atS < 20 ? 0 : 15) }],
    ["saw-tooth", { latencyMs: (atS) => 100 + 30 * (atS % 10) }],
    ["drift", { streamMs: (atS) => 2_000 * (1 + atS / 60) }],
    ["saw-tooth", { rate: (atS) => (atS % 12 < 3 ? 20 : 120) }],
    ["too-short", { seconds: 9 }],
  ])("%s: there is none", (kind, shape) => {
    const found = Array.from({ length: 20 }, (_, seed) => steadyOf(secondsOf(shape, seed), 5));
    expect(found.filter((one) => one.kind === kind).length).toBeGreaterThanOrEqual(19);
    for (const { kind: other, fromS, toS } of found) if (other === kind) expect([fromS, toS]).toEqual([null, null]);
  });

  test("nowhere in a ramp, however short, and after a ramp that ends", () => {
    const ramp = (atS: number) => 5 + (25 * atS) / 18;
    const short = Array.from({ length: 20 }, (_, seed) => steadyOf(secondsOf({ seconds: 19, rate: ramp }, seed), 5));
    expect(short.filter(({ kind }) => kind === "ramp").length).toBeGreaterThanOrEqual(19);
    const ending = steadyOf(secondsOf({ rate: (atS) => Math.min(100, 20 + atS * 8) }), 5);
    expect(ending.kind).toBe("steady");
    expect(ending.fromS).toBeGreaterThanOrEqual(12);
  });

  test("throughout, when a fast gateway becomes faster by less than a millisecond", () => {
    const found = Array.from({ length: 20 }, (_, seed) =>
      steadyOf(secondsOf({ latencyMs: (atS) => 2.4 - 0.8 * (atS / 60) }, seed), 5),
    );
    expect(found.filter(({ kind, fromS }) => kind === "steady" && fromS === 5).length).toBeGreaterThanOrEqual(19);
  });

  test("throughout, when streams of 2 s begin to end after 2 s", () => {
    const streamMs = (atS: number) => (atS < 2 ? null : 2_000);
    const found = Array.from({ length: 100 }, (_, seed) => steadyOf(secondsOf({ streamMs }, seed), 5));
    expect(found.filter(({ kind, fromS }) => kind === "steady" && fromS === 5).length).toBeGreaterThanOrEqual(95);
  });

  test("too short, when no mode has ten seconds with a response", () => {
    const streamMs = (atS: number) => (atS < 6 ? null : 2_000);
    const seconds = secondsOf({ seconds: 14, streamMs }).map(({ responseByModeMs, ...second }, index) => ({
      ...second,
      responseByModeMs: index < 6 ? responseByModeMs : { ...responseByModeMs, nonStreaming: null },
    }));
    expect(steadyOf(seconds, 5).kind).toBe("too-short");
  });

  test("the wait for the last responses is not part of it", () => {
    const seconds = secondsOf({}).map((second, index) => (index < 50 ? second : { ...second, sent: 0, offered: 0 }));
    expect(steadyOf(seconds, 5).toS).toBe(54);
  });
});
