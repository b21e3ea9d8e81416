import type { Observation } from "../../judging/index.ts";
import { isAdmitted, isRateDenial, type RetryAfterWait } from "../../limits/index.ts";
import { nowUs } from "../http/load-exchange.ts";
import type { TierBench, TierRequest } from "./tier-bench.ts";

/** A wait is tested this much after its moment, so that no clock decides, ms. */
export const GRACE_MS = 30;

/** A request that was denied for the rate. */
export interface Denied {
  readonly request: TierRequest;
  readonly denial: Observation;
}

/**
 * Waits as each denial says with nothing else under way on the account, and sends each request again. One whose turn comes
 * after another was admitted may rightly be denied again: what had become free went to that one.
 *
 * @param longestWaitMs a Retry-After that asks for more is not waited for.
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

/** When a denied request may come back, µs. */
function dueUs({ endUs, retryAfterWaitMs }: Observation): number {
  return endUs + (retryAfterWaitMs ?? 0) * 1_000;
}
