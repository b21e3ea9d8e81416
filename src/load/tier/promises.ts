import type { LoadFinding, RetryOutcome } from "../../record/index.ts";
import { nowUs } from "../http/load-exchange.ts";
import { claim, fact } from "../phase-record.ts";
import { type Fact, isAdmitted, isRateDenial } from "./facts.ts";
import type { Ask, TierBench } from "./tier-bench.ts";

/** One promise of a denial and what became of it. */
export interface Promise_ {
  readonly denial: Fact;
  readonly outcome: RetryOutcome;
  /** From the denial to the attempt that was admitted, ms. */
  readonly actualMs: number | undefined;
}

/** Share of the tested promises that must be kept. */
const KEPT_SHARE = 0.99;
/** A hint has whole seconds; a promise is tested this much after its moment, so that no clock decides, ms. */
export const GRACE_MS = 30;

/** Waits as the denial says with nothing else under way on the account, and sends one request. */
export async function keepPromise(bench: TierBench, denial: Fact, ask: Ask, longestWaitMs: number): Promise<Promise_> {
  const { promisedMs, endUs } = denial;
  if (promisedMs === undefined || promisedMs > longestWaitMs)
    return { denial, outcome: "untested", actualMs: undefined };
  const elapsedMs = (nowUs() - endUs) / 1_000;
  if (!(await bench.wait(promisedMs - elapsedMs + GRACE_MS)))
    return { denial, outcome: "untested", actualMs: undefined };
  const retried = await bench.send(ask, "told");
  if (retried === undefined) return { denial, outcome: "untested", actualMs: undefined };
  const actualMs = (retried.sentUs - endUs) / 1_000;
  if (isAdmitted(retried)) return { denial, outcome: "kept", actualMs };
  return { denial, outcome: isRateDenial(retried) ? "broken" : "untested", actualMs: undefined };
}

export function judgePromises(promises: readonly Promise_[]): LoadFinding[] {
  const kept = promises.filter(({ outcome }) => outcome === "kept").length;
  const broken = promises.filter(({ outcome }) => outcome === "broken");
  const tested = kept + broken.length;
  if (tested === 0) {
    const [untested] = promises;
    const why =
      untested === undefined ? "no promise was made" : `told to wait ${untested.denial.retryAfter ?? "nothing usable"}`;
    return [fact("retry-after.promise", "Waiting as told is enough", ["LIMIT-RATE-6"], `not tested: ${why}`)];
  }
  const told = broken.slice(0, 3).map(({ denial }) => denial.retryAfter ?? "");
  return [
    claim(
      "retry-after.broken-promise",
      "Waiting as told is enough",
      ["LIMIT-RATE-6"],
      kept >= tested * KEPT_SHARE,
      `at least ${KEPT_SHARE * 100} % kept`,
      `${kept} of ${tested} kept${told.length === 0 ? "" : `; denied again after waiting ${told.join(", ")}`}`,
      { exchanges: broken.flatMap(({ denial }) => (denial.sample === undefined ? [] : [denial.sample])).slice(0, 5) },
    ),
  ];
}
