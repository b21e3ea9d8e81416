// real-time: sends load, and judges how much of it was served in time
import { describe, expect, test } from "vitest";
import { brokenIn, loadGateway } from "../../scripts/verify/load/load-gateway.ts";
import { sleep } from "../../src/core/index.ts";
import type { JudgedRun } from "../../src/record/index.ts";

/**
 * A quick tier run through a proxy that delays requests from the phase at the rate limit on.
 *
 * @param holdMs delay by the time since the start of that phase.
 */
async function runHeld(holdMs: (sinceMs: number) => number): Promise<JudgedRun> {
  let fromMs: number | undefined;
  return loadGateway({
    limits: { rpm: 240, inFlight: 16 },
    length: "quick",
    onPhase: (name) => {
      if (name === "concurrency-release") fromMs = performance.now();
    },
    front: { hold: () => (fromMs === undefined ? undefined : sleep(holdMs(performance.now() - fromMs))) },
  });
}

const findingOf = (run: JudgedRun, name: string) =>
  run.phases.find((phase) => phase.name === "at-rate-limit")?.findings.find((finding) => finding.name === name);

describe.concurrent("a tier run whose gateway changes its pace within a phase", () => {
  test("one that becomes five seconds slower is found, with the latency before", {
    timeout: 120_000,
  }, async () => {
    const run = await runHeld(() => 5_000);
    expect(findingOf(run, "latency.slowed")).toMatchObject({
      ...{ outcome: "broken", weight: "warn", requirements: ["STEADY-LATENCY"] },
      observed: facts(
        // Without the time for which this process, in which everything runs, was held up.
        expect.stringMatching(
          /^every kind: p50 [\d.]+ ms before, (?:4,[89]|5,\d)\d\d ms from second \d+ to \d+ of the run/,
        ),
      ),
    });
    expect(run.phases.find(({ name }) => name === "at-rate-limit")?.verdict).toBe("warn");
    expect(run.generator.valid ? run.verdict : "warn").toBe("warn");
  });

  test("one that pauses once for six seconds passes", { timeout: 120_000 }, async () => {
    const run = await runHeld((sinceMs) => (sinceMs < 6_000 ? 6_000 - sinceMs : 0));
    expect(findingOf(run, "latency.slowed")?.outcome).toBe("met");
    expect(findingOf(run, "latency.outliers")?.outcome).toBe("met");
    expect(brokenIn(run)).toEqual([]);
  });
});

/** Observed facts. */
function facts(text: unknown): object {
  return { kind: "facts", text };
}
