import type { Observation } from "../../judging/index.ts";
import { isAdmitted, isRateDenial, type RetryAfterWait, shareText, tallyWaits } from "../../limits/index.ts";
import type { Finding } from "../../record/index.ts";
import { nowUs } from "../http/load-exchange.ts";
import { compared, noted, undecided } from "../phase-record.ts";
import { exchangesOf } from "./observations.ts";
import type { TierBench, TierRequest } from "./tier-bench.ts";

/** Share of the tested waits that must be sufficient. */
const SUFFICIENT_SHARE = 0.99;
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

export interface WaitsJudged {
  readonly name: string;
  readonly title: string;
  readonly requirement: string;
  /** Denials of the kind that is asked about. */
  readonly denials: readonly Observation[];
}

/** Whether the Retry-After wait was sufficient. Nothing is undecided where no denial had a usable header: that is another finding. */
export function judgeWaits(
  waits: readonly RetryAfterWait[],
  { name, title, requirement, denials }: WaitsJudged,
): Finding[] {
  const broken = waits.filter(({ outcome }) => outcome === "insufficient");
  const { tested, sufficient } = tallyWaits(waits);
  if (tested === 0) {
    const observed = denials.filter(({ retryAfterWaitMs }) => retryAfterWaitMs !== undefined);
    if (denials.length === 0) return [noted(name, title, [requirement], "nothing was denied")];
    if (observed.length === 0)
      return [noted(name, title, [requirement], `none of ${denials.length} denials had a usable Retry-After`)];
    const why = `none of ${observed.length} waits could be tested, e.g. Retry-After: ${observed[0]?.retryAfter ?? ""}`;
    return [undecided(name, title, [requirement], why)];
  }
  const again = broken.slice(0, 3).map(({ denial }) => denial.retryAfter ?? "");
  const ids = exchangesOf(broken.map(({ denial }) => denial));
  return [
    compared(
      name,
      title,
      [requirement],
      sufficient >= tested * SUFFICIENT_SHARE,
      `at least ${SUFFICIENT_SHARE * 100} % of them`,
      `${shareText(sufficient, tested)} were sufficient (${denials.length} denials)${again.length === 0 ? "" : `; denied again after waiting ${again.join(", ")} as observed`}`,
      { weight: "warn", exchanges: ids },
    ),
  ];
}
