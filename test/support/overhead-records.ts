import type { Added, Overhead, OverheadLevel } from "../../src/record/index.ts";

export function addedBy(ms: number): Added {
  const at = (value: number) => ({ value, low: value - 0.1, high: value + 0.1 });
  return { p50: at(ms), p90: at(ms * 1.5), p99: at(ms * 3) };
}

export function overheadLevel(overrides: Partial<OverheadLevel> = {}): OverheadLevel {
  const stream = overrides.stream ?? false;
  return {
    concurrency: 8,
    stream,
    promptBytes: 1_000,
    requests: 4_000,
    errors: 0,
    errorKinds: [],
    addedMs: addedBy(1),
    addedTtftMs: stream ? addedBy(2) : null,
    addedGapMs: stream ? addedBy(0) : null,
    directMs: { p50: 0.3, p90: 0.4, p99: 0.9 },
    throughMs: { p50: 1.3, p90: 1.9, p99: 3.9 },
    ttftMs: stream ? { direct: 0.3, through: 2.3 } : null,
    eventsPerRead: stream ? { direct: 1, through: 9 } : null,
    requestsPerS: 900,
    peakPerS: 1_800,
    heldAtPerS: 900,
    ceilingPerS: 20_000,
    upstreamBound: false,
    ...overrides,
  };
}

const point = (perS: number, ms: number) => ({
  offeredPerS: perS,
  servedPerS: perS,
  addedMs: addedBy(ms),
  upstreamBound: false,
});

export function overheadOf(levels: readonly OverheadLevel[]): Overhead {
  return {
    ceilingPerS: 20_000,
    direct: "upstream at http://127.0.0.1:9100/upstream/v1",
    rounds: 16,
    arguments: ["--target", "gauntlet.yaml", "--upstream", "http://127.0.0.1:9100/upstream/v1"],
    arms: [
      {
        name: "my-gateway",
        levels: [...levels],
        diagnoses: ["It adds 3.0 ms per megabyte of the prompt."],
        process: { cpuS: 12.5, peakMemoryBytes: 250_000_000, peakOpenFiles: 140 },
        frontier: {
          points: [point(500, 0.3), point(1_000, 0.5), point(1_500, 4)],
          bounds: [1, 2, 5, 10, 25].map((addedP99Ms) => ({
            addedP99Ms,
            requestsPerS: addedP99Ms < 2 ? 500 : 1_000,
            isPassed: addedP99Ms < 10,
            upstreamBound: false,
          })),
        },
      },
    ],
    control: { name: "direct", levels: levels.map((level) => ({ ...level })), fit: true, message: "No difference." },
  };
}
