import { expect, test } from "vitest";
import { tooShortFor } from "../../../src/commands/compare/run-block.ts";
import type { Workload } from "../../../src/load/index.ts";

/** Blocks with two equal kinds of requests, and a second that is not measured. */
function blocks(ratePerS: number, durationS: number): Workload {
  const arrivals = { kind: "constant", ratePerS, durationS: durationS + 1 };
  return { arrivals, mix: [{ weight: 1 }, { weight: 1 }], warmupS: 1 } as unknown as Workload;
}

test("warns before a comparison when blocks are too short for a quantile", () => {
  // 20/s for 2 s: 20 of each kind.
  expect(tooShortFor(blocks(20, 2))).toBe(
    "a block sends about 20 requests of the rarest kind, too few to compare p95 (needs 72) and p99 (needs 368). Raise --block-s or --rate, or the arrivals of the workload",
  );
  expect(tooShortFor(blocks(20, 10))).toMatch(
    /^a block sends about 100 requests of the rarest kind, too few to compare p99 /,
  );
  expect(tooShortFor(blocks(80, 10))).toBeUndefined();
});
