import { retryAfterMs } from "../../dialects/index.ts";
import { isTrue, type Verdict } from "../../judging/index.ts";
import type { MustRequirement } from "../../requirements/index.ts";
import { type Attempt, type ClientRun, callsOf, gapMs, responseHeader, seconds } from "../observation.ts";

/**
 * How much before the end of its Retry-After wait a retry may arrive, milliseconds: timers fire up to 1 ms early, and the wall
 * clock, which dates refer to, is occasionally corrected.
 */
const EARLY_MS = 20;

/** A later retry gets a warning: more than twice the Retry-After wait plus ten seconds. */
const lateAfterMs = (waitMs: number) => 2 * waitMs + 10_000;

/**
 * After a denial with a usable Retry-After, no retry may arrive before the wait is over.
 *
 * @returns number of retries judged.
 */
export function judgeWaits(requirement: MustRequirement, runs: readonly ClientRun[], verdict: Verdict): number {
  let retries = 0;
  for (const call of runs.flatMap(callsOf)) {
    for (const [index, denied] of call.entries()) {
      const next = call[index + 1];
      const sufficientMs = shortestWaitMs(denied);
      if (next === undefined || sufficientMs === undefined) continue;
      retries += 1;
      const waited = gapMs(denied, next);
      const header = `\`Retry-After: ${responseHeader(denied, "retry-after")}\``;
      verdict.must(
        requirement,
        waited >= sufficientMs - EARLY_MS,
        isTrue(`a wait of ${seconds(sufficientMs)} after ${header}`, `a retry after ${seconds(waited)}`),
        { in: next },
      );
      if (waited > lateAfterMs(sufficientMs))
        verdict.should(
          "RETRY-14",
          false,
          isTrue(`a retry soon after the ${seconds(sufficientMs)} of Retry-After`, `a retry after ${seconds(waited)}`),
          {
            in: next,
          },
        );
    }
  }
  return retries;
}

/**
 * The shortest wait that complies with a denial, ms. The client shares our clock, which may be up to a second ahead of the whole
 * seconds of `Date`.
 */
function shortestWaitMs(denied: Attempt): number | undefined {
  const header = responseHeader(denied, "retry-after");
  const { response, request } = denied;
  if (header === undefined || response === undefined) return undefined;
  const wallMs = request.atWallMs + ((response.beganMs ?? response.endedMs) - request.atMs);
  return retryAfterMs(header, wallMs);
}
