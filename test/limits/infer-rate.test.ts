import { describe, expect, test } from "vitest";
import { seededRandom } from "../../src/core/index.ts";
import type { Decision } from "../../src/limits/index.ts";
import { inferRate } from "../../src/limits/index.ts";
import { rateExperiment } from "../../src/load/analysis/limits/rate-experiment.ts";
import { fixedWindow } from "../../src/reference-gateway/limiters/fixed-window.ts";
import { slidingLog } from "../../src/reference-gateway/limiters/sliding-log.ts";
import { LIMITERS, SimulatedGateway, type SimulationOptions, START_US } from "./simulated-gateway.ts";

type Name = keyof typeof LIMITERS;

const KINDS: Readonly<Record<Name, { readonly kind: string; readonly burst: (rpm: number) => number }>> = {
  "sliding log": { kind: "sliding window", burst: (rpm) => rpm },
  "fixed window from the first request": { kind: "fixed window", burst: (rpm) => rpm },
  "fixed window": { kind: "fixed window", burst: (rpm) => rpm },
  "clock minute": { kind: "clock-aligned window", burst: (rpm) => rpm },
  "token bucket": { kind: "token bucket", burst: (rpm) => rpm },
  "half a bucket": { kind: "token bucket", burst: (rpm) => rpm / 2 },
  "a tenth of a bucket": { kind: "token bucket", burst: (rpm) => rpm / 10 },
  paced: { kind: "paced", burst: () => 1 },
  "paced loosely": { kind: "paced", burst: (rpm) => Math.floor(rpm / 60) + 1 },
};
const NAMES = Object.keys(KINDS) as Name[];

async function analyse(
  options: Partial<SimulationOptions> & Pick<SimulationOptions, "limiter" | "rpm">,
  declared = true,
) {
  const gateway = new SimulatedGateway({ seed: 1, jitterUs: 3_000, ...options });
  const declaredPerMinute = declared ? options.rpm : undefined;
  const found = await rateExperiment(gateway, { declaredPerMinute, parallel: 3, minuteMs: 60_000 });
  return { found, gateway };
}

describe.each([300, 1_000])("every limiter of %i a minute", (rpm) => {
  // A different seed and jitter for each: a constant delay would show little.
  test.each(
    NAMES.map((name, index) => ({ name, seed: rpm + index, jitterUs: [500, 2_000, 5_000][index % 3] as number })),
  )("$name, seed $seed, jitter up to $jitterUs µs", async ({ name, seed, jitterUs }) => {
    const { found, gateway } = await analyse({ limiter: LIMITERS[name], rpm, seed, jitterUs });
    const { kind, burst } = KINDS[name];
    expect(found.kind).toMatchObject({ value: kind, confidence: "high" });
    expect(Math.abs((found.perMinute.value ?? 0) - rpm) / rpm).toBeLessThan(0.03);
    expect(Math.abs((found.burst.value ?? 0) - burst(rpm))).toBeLessThanOrEqual(Math.max(0.5, burst(rpm) * 0.03));
    expect(found.deniedCount.value).toMatch(/^(no|makes no difference)$/);
    expect(found.listingCounts.value).toBe("no");
    expect(found.scopes).toMatchObject({
      key: { value: "shared" },
      dialect: { value: "shared" },
      model: { value: "shared" },
      account: { value: "separate" },
    });
    expect(gateway.elapsedS).toBeLessThan(240);
  });
});

test.each(Array.from({ length: 20 }, (_, index) => index * 3))(
  "who shares a window is known wherever the first requests meet it: %i s",
  async (phaseS) => {
    const limiter = (rpm: number) => fixedWindow(rpm, START_US - phaseS * 1_000_000 - 400_000);
    const { found } = await analyse({ limiter, rpm: 1_000, seed: phaseS + 1 });
    expect(found.scopes).toMatchObject({ key: { value: "shared" }, account: { value: "separate" } });
  },
);

test.each<Name>(["sliding log", "half a bucket", "paced"])("no declared limit is needed: %s", async (name) => {
  const { found } = await analyse({ limiter: LIMITERS[name], rpm: 420 }, false);
  expect(found.kind.value).toBe(KINDS[name].kind);
  expect(Math.abs((found.perMinute.value ?? 0) - 420) / 420).toBeLessThan(0.03);
});

test("a declared limit that is wrong changes nothing", async () => {
  const gateway = new SimulatedGateway({ limiter: LIMITERS["fixed window"], rpm: 300, seed: 5, jitterUs: 2_000 });
  const found = await rateExperiment(gateway, { declaredPerMinute: 1_000, parallel: 3, minuteMs: 60_000 });
  expect(found.kind.value).toBe("fixed window");
  expect(found.perMinute.value).toBe(300);
});

test.each<Name>(["sliding log", "half a bucket"])("denied requests that count are noticed: %s", async (name) => {
  const { found } = await analyse({ limiter: LIMITERS[name], rpm: 300, deniedCount: true });
  expect(found.deniedCount.value).toBe("yes");
  expect(found.kind.value).toBe(KINDS[name].kind);
});

test.each<Name>(["sliding log", "fixed window", "token bucket", "paced"])("listings that count: %s", async (name) => {
  const { found } = await analyse({ limiter: LIMITERS[name], rpm: 300, listingCounts: true });
  expect(found.listingCounts.value).toBe("yes");
  expect(found.kind.value).toBe(KINDS[name].kind);
});

test.each<Name>(["sliding log", "paced"])("keys and dialects with separate limiters: %s", async (name) => {
  const { found } = await analyse({ limiter: LIMITERS[name], rpm: 300, separate: ["key", "dialect"] });
  expect(found.scopes).toMatchObject({
    key: { value: "separate" },
    dialect: { value: "separate" },
    model: { value: "shared" },
  });
  expect(found.kind.value).toBe(KINDS[name].kind);
  expect(Math.abs((found.perMinute.value ?? 0) - 300) / 300).toBeLessThan(0.03);
});

test.each(NAMES)("a gateway that stalls now and then: %s", async (name) => {
  const { found } = await analyse({ limiter: LIMITERS[name], rpm: 300, stallEvery: 60, seed: 11 });
  expect(found.kind.value).toBe(KINDS[name].kind);
  expect(Math.abs((found.perMinute.value ?? 0) - 300) / 300).toBeLessThan(0.03);
});

describe("cannot tell", () => {
  test("when the budget ends before the first denial", async () => {
    const { found } = await analyse({ limiter: (rpm) => slidingLog(rpm), rpm: 1_000, requests: 500 });
    expect(found.kind).toMatchObject({ value: null, confidence: "none" });
    expect(found.perMinute.evidence).toMatch(/none of 500 requests was denied/);
  });

  test("without any response", async () => {
    const { found } = await analyse({ limiter: (rpm) => slidingLog(rpm), rpm: 300, requests: 320 });
    expect(found.perMinute.value).toBeNull();
    expect(found.perMinute.evidence).toMatch(/nothing was admitted after/);
  });

  test("when denials follow no rule", async () => {
    const random = seededRandom(3);
    const decisions = Array.from({ length: 600 }, (_, index): Decision => {
      const admitted = random() < 0.4;
      return {
        ordinal: index + 1,
        kind: "main",
        atUs: index * 150_000,
        slackUs: 1_000,
        verdict: admitted ? "admitted" : "rate",
      };
    });
    const found = await inferRate(decisions, { slackUs: 2_000, wallOffsetUs: 0 });
    expect(found.kind.value).toBeNull();
    expect(found.kind.evidence).toMatch(/no model explains it/);
  });
});
