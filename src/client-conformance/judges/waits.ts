import { retryAfterMs } from "../../dialects/index.ts";
import type { Verdict } from "../../judging/index.ts";
import type { MustRequirement } from "../../requirements/index.ts";
import { type Attempt, type ClientRun, callsOf, gapMs, responseHeader, seconds } from "../observation.ts";

/**
 * A retry may come this much before its Retry-After wait is over, milliseconds: timers fire up to one early, and the wall clock, which
 * dates are about, is corrected now and then.
 */
const EARLY_MS = 20;

/** A retry this late is worth a warning: more than twice the Retry-After wait and ten seconds. */
const lateAfterMs = (waitMs: number) => 2 * waitMs + 10_000;

/**
 * After a denial with a usable Retry-After, no retry comes before the wait is over.
 *
 * @returns retries that were judged.
 */
export function judgeWaits(requirement: MustRequirement, runs: readonly ClientRun[], verdict: Verdict): number {
  let retries = 0;
  for (const call of runs.flatMap(callsOf)) {
    for (const [index, denied] of call.entries()) {
      const next = call[index + 1];
      const askedMs = shortestWaitMs(denied);
      if (next === undefined || askedMs === undefined) continue;
      retries += 1;
      const waited = gapMs(denied, next);
      const header = `\`Retry-After: ${responseHeader(denied, "retry-after")}\``;
      verdict.mustHold(
        requirement,
        waited >= askedMs - EARLY_MS,
        `a wait of ${seconds(askedMs)} after ${header}`,
        `a retry after ${seconds(waited)}`,
        { in: next },
      );
      if (waited > lateAfterMs(askedMs))
        verdict.shouldHold(
          "RETRY-14",
          false,
          `a retry soon after the ${seconds(askedMs)} of Retry-After`,
          `a retry after ${seconds(waited)}`,
          {
            in: next,
          },
        );
    }
  }
  return retries;
}

/** The shortest wait that obeys a denial, ms: the client's clock is ours, which may be up to a second ahead of the whole seconds of `Date`. */
function shortestWaitMs(denied: Attempt): number | undefined {
  const header = responseHeader(denied, "retry-after");
  const { answer, request } = denied;
  if (header === undefined || answer === undefined) return undefined;
  const wallMs = request.atWallMs + ((answer.beganMs ?? answer.endedMs) - request.atMs);
  return retryAfterMs(header, wallMs);
}
