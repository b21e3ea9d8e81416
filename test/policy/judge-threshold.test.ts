import { describe, expect, test } from "vitest";
import { describeFacts } from "../../reports/index.ts";
import { judgeThreshold, parseThreshold } from "../../src/policy/index.ts";
import type { Finding, LoadClass } from "../../src/record/index.ts";
import { loadClass, loadPhase, loadRun, quantiles } from "../support/load-records.ts";

function judge(threshold: string, phase: Parameters<typeof loadPhase>[1]): Finding {
  const parsed = parseThreshold(threshold);
  if (typeof parsed === "string") throw new Error(parsed);
  return judgeThreshold(loadRun("w", { phases: [loadPhase("at-rate-limit", phase)] }), parsed);
}

/** 12 responses: p50 has an interval, and the higher quantiles have none. */
const FEW: LoadClass = loadClass({
  count: 12,
  responseMs: { ...quantiles(2_000), intervals: { p50: [1_800, 2_300], p90: null, p95: null, p99: null, p999: null } },
});

describe("a quantile that has too few samples", () => {
  test.each([
    [
      "response_ms p99 < 5",
      "broken",
      "2,000 ms already at p50 (95 % interval: 1,800 ms to 2,300 ms) in phase=at-rate-limit, dialect=",
    ],
    ["response_ms p99 < 1799", "broken", "2,000 ms already at p50"],
    // The lower end of p50 does not exceed it.
    ["response_ms p99 < 1900", "undecided", "12 samples are too few for p99"],
    ["response_ms p99 < 9000", "undecided", "12 samples are too few for p99"],
    // Higher quantiles have no upper end, and a high p50 proves nothing about a lower bound.
    ["response_ms p99 > 5", "undecided", "12 samples are too few for p99"],
  ])("%s is %s", (threshold, outcome, text) => {
    const judged = judge(threshold, { classes: [FEW] });
    expect(judged.outcome).toBe(outcome);
    expect(JSON.stringify([judged.observed, judged.reason])).toContain(text);
  });

  test("names the series that crosses it", () => {
    const fast = loadClass({
      ...FEW,
      stream: false,
      responseMs: { ...quantiles(2), intervals: FEW.responseMs?.intervals },
    });
    const judged = judge("response_ms p99 < 5", { classes: [FEW, { ...fast, responseMs: quantiles(2) }] });
    expect(JSON.stringify(judged.observed)).toContain("stream=true");
    expect(judged.outcome).toBe("broken");
  });

  test("names the series that has too few", () => {
    const judged = judge("response_ms p99 < 9000", { classes: [FEW, loadClass({ stream: false, count: 5_000 })] });
    expect(judged.outcome).toBe("undecided");
    expect(JSON.stringify(judged.reason)).toContain("12 samples of {stream=true} are too few for p99, which needs 368");
  });
});

test.each([
  [221, /≈[\d.]+ ms: the 221 samples are correlated/],
  [71, /≈[\d.]+ ms: 71 samples are too few for p95/],
  // So few have no p95.
  [19, /"19 samples are too few for p95/],
])(
  "an undecided p95 of %d samples states its approximate value if there are enough samples to reach it",
  (count, says) => {
    const intervals = { p50: [52, 54] as [number, number], p90: null, p95: null, p99: null, p999: null };
    const judged = judge("response_ms p95 < 800", {
      classes: [loadClass({ count, responseMs: { ...quantiles(53), intervals } })],
    });
    expect(judged.outcome).toBe("undecided");
    expect(JSON.stringify(judged.reason)).toMatch(says);
  },
);

test("an undecided share says how many requests would decide it", () => {
  const none = [0, 0] as [number, number];
  const shares = { admitted: 1, denied: 0, failed: 0, invalid: 0 };
  const intervals = {
    admitted: [0.963, 1] as [number, number],
    denied: none,
    failed: [0, 0.037] as [number, number],
    invalid: none,
  };
  const judged = judge("failed < 0.5 %", {
    ...{ classes: [], sent: 100, offered: 100, admitted: 100, failed: 0 },
    shares: { ...shares, intervals },
  });
  expect(judged.outcome).toBe("undecided");
  // Without a failure, the upper end of the Wilson interval is below 0.5 % from 765 requests on.
  expect(JSON.stringify(judged.reason)).toContain("About 770 requests would decide it");
});

test("itl_ms without values names the option that it needs", () => {
  expect(judge("itl_ms p95 < 50", { classes: [loadClass({ itlMs: null })] }).reason).toMatchObject({
    text: expect.stringContaining("`includeUsage: true`"),
  });
  expect(judge("itl_ms p95 < 50", { classes: [loadClass({ itlMs: null, stream: false })] }).reason).toMatchObject({
    text: expect.not.stringContaining("includeUsage"),
  });
});

test("a threshold that a busy machine leaves undecided still says what was measured", () => {
  const parsed = parseThreshold("response_ms p50 < 5");
  if (typeof parsed === "string") throw new Error(parsed);
  const run = loadRun("w", { phases: [loadPhase("w", { classes: [FEW] })] });
  const judged = judgeThreshold({ ...run, generator: { ...run.generator, valid: false, problems: ["lag"] } }, parsed);
  expect(judged.outcome).toBe("undecided");
  expect(describeFacts(judged)).toMatch(
    /^2,000 ms \(95 % interval: 1,800 ms to 2,300 ms\).*, but this machine was too busy to judge timing: lag\./,
  );
});

test("a share that too few requests leave undecided is not blamed on a busy machine", () => {
  const parsed = parseThreshold("denied < 1 %");
  if (typeof parsed === "string") throw new Error(parsed);
  const bounds = (low: number, high: number): [number, number] => [low, high];
  const intervals = {
    ...{ admitted: bounds(0.977, 1), denied: bounds(0, 0.0234), failed: bounds(0, 0.0234), invalid: bounds(0, 0.0234) },
  };
  const shares = { admitted: 1, denied: 0, failed: 0, invalid: 0, intervals };
  const run = loadRun("w", {
    phases: [loadPhase("w", { classes: [], sent: 160, offered: 160, admitted: 160, denied: 0, shares })],
  });
  const busy = { ...run, generator: { ...run.generator, valid: false, problems: ["lag"] } };
  expect(describeFacts(judgeThreshold(busy, parsed))).toMatch(
    /^0 % \(95 % interval: 0 % to 2\.34 %\): the interval contains the bound\. About 390 requests would decide it/,
  );
});
