import { expect, test } from "vitest";
import { blockTooShort } from "../../../src/commands/compare/block-size.ts";
import { nextStep } from "../../../src/commands/compare/next-step.ts";
import type { Workload } from "../../../src/load/index.ts";
import type { ComparedMetric, Comparison } from "../../../src/record/index.ts";

/** Blocks with two equal kinds of requests, and a second that is not measured. */
function blocks(ratePerS: number, durationS: number): Workload {
  const arrivals = { kind: "constant", ratePerS, durationS: durationS + 1 };
  return { arrivals, mix: [{ weight: 1 }, { weight: 1 }], warmupS: 1 } as unknown as Workload;
}

/** 80 of each kind on average, 9 more or fewer. */
const poisson = {
  ...blocks(40, 4),
  arrivals: { kind: "poisson", ratePerS: 40, durationS: 5 },
} as Workload;

test("warns before a comparison when blocks are too short for a quantile", () => {
  // 20/s for 2 s: 20 of each kind.
  expect(blockTooShort(blocks(20, 2))).toBe(
    "a block sends about 20 requests of the least frequent kind, too few to compare p95 (needs 72) and p99 (needs 368). Increase --block-s or --rate, or send more requests in the workload file",
  );
  expect(blockTooShort(blocks(20, 10))).toMatch(
    /^a block sends about 100 requests of the least frequent kind, too few to compare p99 /,
  );
  expect(blockTooShort(blocks(100, 10))).toBeUndefined();
});

test("warns of quantiles that only some blocks have enough requests for", () => {
  // 400 of each kind, 14 more or fewer: one block in 90 has fewer than 368.
  expect(blockTooShort(blocks(80, 10))).toMatch(
    /^a block sends about 400 \S+ of .* kind, in some blocks too few to compare p99 \(/,
  );
  expect(blockTooShort(poisson)).toMatch(
    /^a block sends about 80 .* kind, too few to compare p99 \(needs 368\), and in some blocks too few to compare p95 \(needs 72\)\. Increase/,
  );
});

test("an inconclusive session says how many pairs, or how long blocks, would decide it", () => {
  const session = { workload: poisson, pairs: 10, blockS: 4 };
  const open = (metrics: Partial<ComparedMetric>[], fit = true) => {
    const undecided = { verdict: "inconclusive", a: null, b: null, change: null, high: null, neededPairs: null };
    return {
      ...{ verdict: "inconclusive", control: { fit } },
      metrics: metrics.map((metric) => ({ ...undecided, ...metric })),
    } as unknown as Comparison;
  };
  const p50 = { name: "chat streaming response_ms p50", why: "about 24 pairs would decide it", neededPairs: 24 };
  const p95 = { name: "chat streaming ttft_ms p95", why: "", tooFewSamplesIn: "some blocks" as const };
  expect(nextStep(open([p50, p95]), session)).toBe(
    "For a verdict, run again with --pairs 24 and --block-s 6 (about 8 min).",
  );
  expect(nextStep(open([p95]), session)).toBe("For a verdict, run again with --block-s 6 (about 3 min).");
  expect(nextStep(open([p95]), { ...session, blockS: undefined })).toBe(
    "For a verdict, run again with 1.3 times as many requests in the workload.",
  );
  expect(nextStep(open([p50], false), session)).toBe("Run again on an idle machine.");
  expect(nextStep({ ...open([p50]), verdict: "regressed" }, session)).toBeUndefined();
});
