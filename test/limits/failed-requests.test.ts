import { describe, expect, test } from "vitest";
import { type Decision, inferRate } from "../../src/limits/index.ts";
import { rateExperiment } from "../../src/load/analysis/limits/rate-experiment.ts";
import { LIMITERS, SimulatedGateway, type SimulationOptions } from "./simulated-gateway.ts";

async function analyse(options: Pick<SimulationOptions, "rpm" | "seed" | "failing">) {
  const gateway = new SimulatedGateway({ limiter: LIMITERS["sliding log"], jitterUs: 3_000, ...options });
  return rateExperiment(gateway, { declaredPerMinute: options.rpm, parallel: 1, minuteMs: 60_000 });
}

describe("requests that fail, or are denied for something else, in the middle of it", () => {
  test.each([
    [0.05, "all"],
    [0.3, "all"],
    [0.3, "none"],
  ] as const)("%d of them, of which %s are counted: the limit, or nothing", async (share, count) => {
    let inferred = 0;
    for (let seed = 1; seed <= 4; seed++) {
      const { kind, perMinute } = await analyse({ rpm: 20, seed, failing: { share, count } });
      if (perMinute.value === null) expect(perMinute.evidence).toMatch(/failed or (were )?denied for something else/);
      else {
        expect(kind.value).toBe("sliding window");
        expect(perMinute.value).toBe(20);
        inferred++;
      }
    }
    expect(inferred).toBeGreaterThan(0);
  });

  test.each([
    [0.3, 4],
    [0.5, 5],
  ])(
    "%d of them, of which half are counted, in seed %d: nothing, because neither assumption holds",
    async (share, seed) => {
      const { perMinute } = await analyse({ rpm: 20, seed, failing: { share, count: "half" } });
      expect(perMinute.value).toBeNull();
    },
  );

  test("a few among many change nothing", async () => {
    const failing = { share: 0.005, count: "all" } as const;
    const found = await analyse({ rpm: 300, seed: 3, failing });
    expect(found.kind.value).toBe("sliding window");
    expect(Math.abs((found.perMinute.value ?? 0) - 300)).toBeLessThanOrEqual(9);
  });
});

test("cannot tell when it has to end before the requests are analysed", async () => {
  const decisions = Array.from(
    { length: 5_000 },
    (_, index): Decision => ({
      ordinal: index + 1,
      kind: "main",
      atUs: index * 20_000,
      slackUs: 1_000,
      verdict: index % 3 === 0 ? "admitted" : "rate",
    }),
  );
  const found = await inferRate(decisions, { slackUs: 2_000, wallOffsetUs: 0 }, AbortSignal.abort());
  expect(found.perMinute.evidence).toMatch(/interrupted/);
});
