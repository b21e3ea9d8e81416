import { describe, expect, test } from "vitest";
import { type Arrivals, planOf, scheduleOf } from "../../../src/load/schedule/arrivals.ts";

function dues(arrivals: Arrivals, seed = 1): number[] {
  const schedule = scheduleOf(arrivals, seed);
  const all: number[] = [];
  for (let due = schedule.next(); due !== undefined; due = schedule.next()) all.push(due / 1_000_000);
  return all;
}

describe("schedules", () => {
  test("constant: evenly, from the ordinal, so that it does not drift", () => {
    const all = dues({ kind: "constant", ratePerS: 3, durationS: 1_000 });
    expect(all.length).toBe(3_000);
    expect(all[2_999]).toBeCloseTo(2_999 / 3, 9);
  });

  test("ramp: the count up to any moment is the integral of the rate", () => {
    const all = dues({ kind: "ramp", fromPerS: 0, toPerS: 100, durationS: 10 });
    expect(all.length).toBe(500);
    expect(all.filter((due) => due < 5).length).toBe(125);
    const falling = dues({ kind: "ramp", fromPerS: 100, toPerS: 0, durationS: 10 });
    expect(falling.filter((due) => due < 5).length).toBe(375);
  });

  test("steps follow each other without a gap", () => {
    const all = dues({
      kind: "steps",
      steps: [
        { ratePerS: 2, durationS: 2 },
        { ratePerS: 4, durationS: 1 },
      ],
    });
    expect(all).toEqual([0, 0.5, 1, 1.5, 2, 2.25, 2.5, 2.75]);
  });

  test("burst: all of a group together", () => {
    expect(dues({ kind: "burst", size: 2, everyS: 3, durationS: 6 })).toEqual([0, 0, 3, 3]);
  });

  test("poisson: the same seed gives the same moments, another one others; the rate is kept", () => {
    const once = dues({ kind: "poisson", ratePerS: 50, durationS: 200 }, 7);
    expect(dues({ kind: "poisson", ratePerS: 50, durationS: 200 }, 7)).toEqual(once);
    expect(dues({ kind: "poisson", ratePerS: 50, durationS: 200 }, 8)).not.toEqual(once);
    // 10,000 expected, standard deviation 100.
    expect(Math.abs(once.length - 10_000)).toBeLessThan(500);
    expect([...once].sort((a, b) => a - b)).toEqual(once);
  });

  test("replay: the times of the trace, faster on request", () => {
    const entry = { dialect: "chat", stream: false, promptTokens: 1, maxTokens: 1 } as const;
    const entries = [
      { offsetMs: 0, ...entry },
      { offsetMs: 500, ...entry },
    ];
    expect(dues({ kind: "replay", entries, speed: 2 })).toEqual([0, 0.25]);
  });

  test.each<[Arrivals]>([
    [{ kind: "constant", ratePerS: 7, durationS: 3 }],
    [{ kind: "ramp", fromPerS: 5, toPerS: 15, durationS: 4 }],
    [
      {
        kind: "steps",
        steps: [
          { ratePerS: 2, durationS: 2 },
          { ratePerS: 4, durationS: 1 },
        ],
      },
    ],
    [{ kind: "burst", size: 3, everyS: 2, durationS: 6 }],
  ])("the plan counts what the schedule of %j gives", (arrivals) => {
    expect(planOf(arrivals).requests).toBe(dues(arrivals).length);
  });
});
