import pc from "picocolors";
import { describe, expect, test } from "vitest";
import { describeSizing } from "../../../src/commands/size/text.ts";
import { applyLimits, type PlannedRequest } from "../../../src/load/analysis/size/apply-limits.ts";
import { sizeWorkload } from "../../../src/load/analysis/size/size-workload.ts";
import type { Arrivals } from "../../../src/load/schedule/arrivals.ts";
import { DEFAULT_ALLOW, type Workload } from "../../../src/load/workload/workload.ts";
import { slidingLog } from "../../../src/reference-gateway/limiters/sliding-log.ts";
import { tokenBucket } from "../../../src/reference-gateway/limiters/token-bucket.ts";
import { resultText } from "../../../src/run/record/index.ts";

function workload(arrivals: Arrivals): Workload {
  return {
    name: "w",
    tier: undefined,
    arrivals,
    mix: [{ dialect: "chat", stream: true, model: undefined, promptTokens: 20, maxTokens: 64, weight: 1 }],
    maxInFlight: undefined,
    warmupS: 0,
    engine: "native",
    retryAfter: "none",
    allow: DEFAULT_ALLOW,
    written: null,
  };
}

describe("the tier that a workload needs", () => {
  test.each([
    [4.9, 2_000, "starter"],
    [5.1, 2_000, "growth"],
    [4.9, 14_000, "growth"],
    [17, 2_000, "scale"],
    [45, 12_000, null],
  ])("%d per second of %d ms: %s", (ratePerS, ms, tier) => {
    const sizing = sizeWorkload(workload({ kind: "constant", ratePerS, durationS: 300 }), () => ms, { seed: 1 });
    expect(sizing.needs).toBe(tier);
    // Little's law and the simulation compute the same number in two ways; they differ by the end of the run.
    expect(Math.abs(sizing.littleInFlight - sizing.meanInFlight) / sizing.littleInFlight).toBeLessThan(0.06);
  });

  test("the share of denials is what lies beyond the limit", () => {
    const sizing = sizeWorkload(workload({ kind: "constant", ratePerS: 10, durationS: 600 }), () => 10, { seed: 1 });
    const starter = sizing.tiers.find(({ tier }) => tier === "starter");
    expect(starter?.denied["sliding window"].share).toBeCloseTo(0.5, 2);
    expect(starter?.denied["token bucket"].share).toBeCloseTo(0.45, 2);
  });

  test("a workload shorter than a minute does not hide what its rate needs", () => {
    const short = sizeWorkload(workload({ kind: "constant", ratePerS: 20, durationS: 12 }), () => 10, { seed: 1 });
    expect([short.needs, short.continuous]).toEqual(["starter", { perMinute: 1_200, needs: "scale" }]);
    const options = { ttftMs: 500, tokensPerS: 50 };
    const text = resultText(
      describeSizing({ sizing: short, verified: undefined, options, exitCode: 0 }),
      pc.createColors(false),
    );
    expect(text).toMatch(/^smallest tier: starter for these 12 s; to sustain the rate: scale$/m);
    const long = sizeWorkload(workload({ kind: "constant", ratePerS: 20, durationS: 60 }), () => 10, { seed: 1 });
    expect([long.needs, long.continuous]).toEqual(["scale", undefined]);
  });

  test("if no tier is enough, the limits that are needed are named", () => {
    const sizing = sizeWorkload(workload({ kind: "constant", ratePerS: 400, durationS: 20 }), () => 1_780, { seed: 1 });
    const text = resultText(
      describeSizing({ sizing, verified: undefined, options: { ttftMs: 500, tokensPerS: 50 }, exitCode: 0 }),
      pc.createColors(false),
    );
    expect(text.trim().split("\n").slice(-3)).toEqual([
      "smallest tier: none (custom limits are needed)",
      "  limits that admit all of it: 24,000/min, 712 in flight",
      "  scale would deny up to 87.5 % of the requests",
    ]);
  });

  test("a tier that fits because denials are allowed is not the one without denials", () => {
    const own = workload({ kind: "constant", ratePerS: 10, durationS: 120 });
    const sizing = sizeWorkload({ ...own, allow: { ...DEFAULT_ALLOW, deniedShare: 1 } }, () => 10, { seed: 1 });
    expect([sizing.needs, sizing.needsWithoutDenials]).toEqual(["starter", "growth"]);
    const text = resultText(
      describeSizing({ sizing, verified: undefined, options: { ttftMs: 500, tokensPerS: 50 }, exitCode: 0 }),
      pc.createColors(false),
    );
    expect(text).toMatch(/fits, with up to 5\d\.\d % denied/);
    expect(text.trim().split("\n").slice(-2)).toEqual(["smallest tier: starter", "  to deny nothing: growth"]);
  });

  test("a closed loop needs as many requests in flight", () => {
    const sizing = sizeWorkload(workload({ kind: "closed", inFlight: 100, durationS: 60 }), () => 30_000, { seed: 1 });
    expect(sizing.peakInFlight).toBe(100);
    expect(sizing.needs).toBe("growth");
  });
});

test("the simulated limiters decide as those of the reference gateway", () => {
  const planned = Array.from(
    { length: 4_000 },
    (_, index): PlannedRequest => ({ atUs: index * (30_000 + (index % 7) * 11_000), durationUs: 1 }),
  ).sort((a, b) => a.atUs - b.atUs);
  const limits = { rpm: 300, inFlight: 1_000 };
  for (const [kind, limiter] of [
    ["sliding window", slidingLog(300)],
    ["token bucket", tokenBucket(300)],
  ] as const) {
    let denied = 0;
    for (const { atUs } of planned) {
      if (limiter.waitUs(atUs) > 0) denied++;
      else limiter.count(atUs);
    }
    expect(Math.abs(applyLimits(planned, limits, kind).deniedForRate - denied)).toBeLessThanOrEqual(1);
  }
});
