import { describe, expect, test } from "vitest";
import { brokenIn, loadGateway } from "../../../scripts/verify/load/load-gateway.ts";
import { skipWhereLate } from "../../support/valid-generator.ts";

describe.concurrent("a quick tier run over HTTP/2", () => {
  test("passes a sound gateway", { timeout: 120_000 }, async (context) => {
    const run = await loadGateway({ length: "quick", http2: true });
    skipWhereLate(context, run);
    expect(run.protocol).toBe("HTTP/2");
    expect(brokenIn(run)).toEqual([]);
    expect(run.verdict).toBe("pass");
    // Intentional disconnects are not failures.
    expect(run.phases.map(({ name, failed, failures }) => [name, failed, failures])).toEqual(
      run.phases.map(({ name }) => [name, 0, []]),
    );
    const [phase] = run.phases.filter(({ name }) => name === "at-concurrency-limit");
    // More in flight than the limit of one connection or two.
    expect(phase?.peakInFlight).toBeGreaterThan(24);
    expect(run.phases[0]?.connections).toBeLessThanOrEqual(2);
  });

  test.for([
    ["concurrency.one-too-many", "concurrency.exceeded"],
    ["concurrency.leaked-by-streams", "concurrency.leaked"],
    ["load.streams-cut-when-busy", "service.cut"],
  ])("fails a gateway with %s for %s", { timeout: 120_000 }, async ([mutation = "", finding], context) => {
    const run = await loadGateway({ length: "quick", mutations: [mutation], http2: true });
    skipWhereLate(context, run);
    expect(brokenIn(run)).toContain(finding);
    expect(run.verdict).toBe("fail");
  });
});
