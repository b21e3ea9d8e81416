import { nowUs } from "../../http/load-client/index.ts";
import type { Observation } from "../../judging/index.ts";
import { isAdmitted, isRateDenial, type RetryAfterWait } from "../../limits/index.ts";
import type { TierBench, TierRequest } from "./tier-bench.ts";

/** Added to each wait that is tested, so that small clock differences do not affect the result, ms. */
export const GRACE_MS = 30;

/** A request that was denied by the rate limit. */
export interface Denied {
  readonly request: TierRequest;
  readonly denial: Observation;
}

/**
 * Waits as each denial requests, with nothing else in flight on the account, and retries each request. A retry after another one
 * was admitted may legitimately be denied again: the other one used the freed capacity.
 *
 * @param longestWaitMs a longer Retry-After is not tested.
 */
export async function testWaitsOneByOne(
  bench: TierBench,
  denied: readonly Denied[],
  longestWaitMs: number,
): Promise<RetryAfterWait[]> {
  const waits: RetryAfterWait[] = [];
  let admitted = false;
  for (const { request, denial } of [...denied].sort((a, b) => dueUs(a.denial) - dueUs(b.denial))) {
    const { retryAfterWaitMs, endUs } = denial;
    const isTested = retryAfterWaitMs !== undefined && retryAfterWaitMs <= longestWaitMs;
    const retried =
      isTested && (await bench.wait((dueUs(denial) - nowUs()) / 1_000 + GRACE_MS, "Retry-After"))
        ? await bench.send(request, "retry")
        : undefined;
    if (retried === undefined) waits.push({ denial, outcome: "untested", actualMs: undefined });
    else if (isAdmitted(retried)) {
      admitted = true;
      waits.push({ denial, outcome: "sufficient", actualMs: (retried.sentUs - endUs) / 1_000 });
    } else
      waits.push({
        denial,
        outcome: isRateDenial(retried) && !admitted ? "insufficient" : "contended",
        actualMs: undefined,
      });
  }
  return waits;
}

/** When a denied request may be retried, µs. */
function dueUs({ endUs, retryAfterWaitMs }: Observation): number {
  return endUs + (retryAfterWaitMs ?? 0) * 1_000;
}
