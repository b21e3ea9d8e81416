import { expect, test } from "vitest";
import { judgeGauge, judgeLeaks } from "../../../src/load/analysis/judge-leaks.ts";
import type { WatchedSample } from "../../../src/record/index.ts";

const MIB = 2 ** 20;

/**
 * A minute of load and three seconds after it, a sample each second; the noise is that of a garbage-collected heap: a sawtooth of
 * 3 MiB.
 */
function sampled(memoryMib: (atS: number) => number, seconds = 60): WatchedSample[] {
  return Array.from({ length: seconds + 4 }, (_, atS) => ({
    atS,
    cpuShare: 0.5,
    memoryBytes: (memoryMib(atS) + (atS % 5) * 0.75) * MIB,
    openFiles: 20 + (atS > 0 && atS < seconds ? 30 : 0),
    threads: 11,
  }));
}

test.each<[verdict: string, what: string, memoryMib: (atS: number) => number]>([
  ["idle", "the same all the time", () => 100],
  ["idle", "less at the end", (atS) => 100 - atS / 10],
  ["plateau", "a warm-up of twenty seconds", (atS) => 100 + Math.min(20, atS) * 2],
  ["growth", "half a MiB each second", (atS) => 100 + atS / 2],
  ["growth", "after a warm-up, and not given back", (atS) => 150 + atS * 0.4],
  ["recovered", "released when the load ended", (atS) => (atS > 60 ? 102 : 100 + atS / 2)],
])("%s: %s", (verdict, _what, memoryMib) => {
  const [memory, files, threads] = judgeLeaks(sampled(memoryMib), 60);
  expect(memory).toMatchObject({ resource: "memory", verdict });
  expect(files).toMatchObject({ resource: "open files", verdict: "recovered", first: 20, peak: 50, last: 20 });
  expect(threads).toMatchObject({ resource: "threads", verdict: "idle" });
});

test("the slope of growth is within its interval, per minute", () => {
  const [memory] = judgeLeaks(
    sampled((atS) => 100 + atS / 2),
    60,
  );
  const { value, low, high } = memory?.perMinute ?? { value: 0, low: 0, high: 0 };
  expect(value / MIB).toBeCloseTo(30, -0.5);
  expect(low / MIB).toBeLessThan(30);
  expect(high / MIB).toBeGreaterThan(30);
});

test("a short run decides nothing", () => {
  const [memory] = judgeLeaks(
    sampled((atS) => 100 + atS, 10),
    10,
  );
  expect(memory).toMatchObject({ verdict: null, perMinute: null });
  expect(memory?.message).toBe("11 samples during the load, 20 are needed");
});

test("files that this user may not count are not judged", () => {
  const samples = sampled(() => 100).map((sample) => ({ ...sample, openFiles: null }));
  const [memory, files] = judgeLeaks(samples, 60);
  expect(memory).toMatchObject({ verdict: "idle", unit: "bytes" });
  expect(files).toMatchObject({ verdict: null, unit: "count", first: 0, peak: 0, last: 0 });
  expect(files?.message).toContain("belong to another user");
});

test("a gauge is judged by its own points, however many seconds lie between them", () => {
  const points = Array.from({ length: 33 }, (_, index) => ({ atS: index * 2 - 2, value: 10 + Math.max(0, index) }));
  const leak = judgeGauge({ name: "process_open_fds", unit: "count", points }, 60);
  expect(leak).toMatchObject({ resource: "process_open_fds", verdict: "growth", first: 11, peak: 42, last: 42 });
  expect(leak.perMinute?.value).toBeCloseTo(30, 6);
});
