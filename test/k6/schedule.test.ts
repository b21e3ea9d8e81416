import { expect, test } from "vitest";
import { missingShares, segmentsOf } from "../../src/engines/k6/segments.ts";
import { sizeFleet } from "../../src/engines/k6/size-fleet.ts";
import { chance, requestOf } from "../../suites/k6/draw.ts";
import { countOf, dueMs } from "../../suites/k6/due.ts";

test("arrivals are due as planned", () => {
  expect(dueMs({ kind: "at-once", count: 9 }, 8)).toBe(0);
  expect(dueMs({ kind: "even", count: 300, everyMs: 200 }, 7)).toBe(1_400);
  // From 1 to 9 per second in a second: t + 4 t² = n.
  const ramp = { kind: "ramp", fromPerS: 1, toPerS: 9, durationMs: 1_000 } as const;
  for (const index of [0, 1, 2, 3, 4]) {
    const atS = dueMs(ramp, index) / 1_000;
    expect(atS + 4 * atS * atS).toBeCloseTo(index + 1, 9);
  }
  // What a late k6 would send beyond the plan is not sent.
  expect([countOf(ramp), countOf({ kind: "even", count: 300, everyMs: 200 })]).toEqual([5, 300]);
  expect(dueMs({ kind: "ramp", fromPerS: 10, toPerS: 10, durationMs: 1_000 }, 4)).toBe(500);
});

test("every instance draws the same request for the same arrival, in the shares of the mix", () => {
  const requests = [3, 1].map((weight, index) => ({ dialect: "chat", stream: index === 1, body: "", weight }) as const);
  const drawn = Array.from({ length: 4_000 }, (_, index) => requestOf({ requests, draw: "weights" }, index, 7));
  expect(drawn.filter(({ stream }) => stream).length / 4_000).toBeCloseTo(0.25, 1);
  expect(chance(7, 12)).toBe(chance(7, 12));
  expect(chance(7, 12)).not.toBe(chance(8, 12));
});

test("segments cover the whole, and a missing one is named", () => {
  expect(segmentsOf(3)).toEqual(["0:1/3", "1/3:2/3", "2/3:1"].map((segment) => ({ segment, sequence: "0,1/3,2/3,1" })));
  expect(segmentsOf(1)).toEqual([{ segment: "0:1", sequence: "0,1" }]);
  expect(missingShares(["0:1/3", "1/3:2/3", "2/3:1"])).toEqual([]);
  expect(missingShares(["2/3:1", "0:1/3"])).toEqual(["1/3:2/3"]);
  expect(missingShares(["0:1/2"])).toEqual(["1/2:1"]);
  expect(missingShares(["0:1"])).toEqual([]);
});

test("the size of a fleet is its tightest bound", () => {
  const cost = { cpuPerRequestS: 0.001, cpuPerHeldS: 0, bytesPerHeld: 1e6, baseBytes: 1e8 };
  const size = { cores: 2, memoryBytes: 4e9 };
  expect(sizeFleet(10, 10, cost, size)).toMatchObject({ instances: 1 });
  // 16,667 per second at 1 ms are 16.7 cores; at 60 % of two cores each that is 14.
  expect(sizeFleet(1e6 / 60, 100, cost, size)).toMatchObject({ instances: 14, binding: "processor" });
  // 100 GB over 2.7 GB each.
  expect(sizeFleet(100, 100_000, cost, size)).toMatchObject({ instances: 38, binding: "memory" });
  expect(sizeFleet(100, 100_000, { ...cost, bytesPerHeld: 1 }, size)).toMatchObject({
    instances: 4,
    binding: "connections",
  });
});
