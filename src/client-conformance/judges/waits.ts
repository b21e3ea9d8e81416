import { retryAfterMs } from "../../dialects/index.ts";
import type { Verdict } from "../../judging/index.ts";
import type { RequirementId } from "../../requirements/index.ts";
import { type Attempt, type ClientRun, callsOf, gapMs, seconds, toldHeader } from "../observation.ts";

/**
 * A retry may come this much before the told moment, milliseconds: timers fire up to one early, and the wall clock, which
 * dates are about, is corrected now and then.
 */
const EARLY_MS = 20;

/** A retry this late is worth a warning: more than twice the told wait and ten seconds. */
const lateAfterMs = (toldMs: number) => 2 * toldMs + 10_000;

/**
 * After a denial with a usable hint, no retry comes before the told moment.
 *
 * @returns retries that were judged.
 */
export function judgeWaits(requirement: RequirementId, runs: readonly ClientRun[], verdict: Verdict): number {
  let retries = 0;
  for (const call of runs.flatMap(callsOf)) {
    for (const [index, denied] of call.entries()) {
      const next = call[index + 1];
      const told = toldMs(denied);
      if (next === undefined || told === undefined) continue;
      retries += 1;
      const waited = gapMs(denied, next);
      const header = `\`Retry-After: ${toldHeader(denied, "retry-after")}\``;
      verdict.mustHold(
        requirement,
        waited >= told - EARLY_MS,
        `a wait of ${seconds(told)} after ${header}`,
        `a retry after ${seconds(waited)}`,
        { in: next },
      );
      if (waited > lateAfterMs(told))
        verdict.shouldHold(
          requirement,
          false,
          `a retry soon after the told ${seconds(told)}`,
          `a retry after ${seconds(waited)}`,
          {
            in: next,
          },
        );
    }
  }
  return retries;
}

/** The wait that a denial asks for, milliseconds. */
export function toldMs(denied: Attempt): number | undefined {
  const header = toldHeader(denied, "retry-after");
  const { answer, request } = denied;
  if (header === undefined || answer === undefined) return undefined;
  const wallMs = request.atWallMs + ((answer.beganMs ?? answer.endedMs) - request.atMs);
  return retryAfterMs(header, wallMs);
}
