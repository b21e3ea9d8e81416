import { isTrue, type Verdict } from "../../judging/index.ts";
import type { MustRequirement } from "../../requirements/index.ts";
import { type Attempt, type ClientRun, callsOf, gapMs, headerOf, seconds } from "../observation.ts";

/** A request that was aborted without a response may have been served: it must not be repeated blindly. */
export function judgeUncertain(
  requirement: MustRequirement,
  run: ClientRun,
  verdict: Verdict,
  maxAttempts: number,
): void {
  for (const call of callsOf(run)) {
    const [first, ...repeats] = call;
    const [again] = repeats;
    if (first === undefined) continue;
    if (again === undefined) {
      // When the command is stopped, the harness itself closes the open requests.
      if (run.ending.by === "itself")
        verdict.must(
          requirement,
          true,
          isTrue("no blind repeat of a request without a response", "it timed out and was not repeated"),
        );
      else
        verdict.markUndecided(
          "not-applicable",
          `still waiting after ${seconds(run.ending.durationMs)}: to be judged, a command must time out after GAUNTLET_TIMEOUT_S seconds`,
        );
      continue;
    }
    const expected = "no blind repeat of a request without a response";
    const observed = `${call.length} attempts, the second ${seconds(gapMs(first, again))} after the first timed out`;
    if (sameIdempotencyKey(call))
      verdict.must(requirement, true, isTrue(expected, `${observed}, all with one idempotency key`));
    else if (call.length > maxAttempts)
      verdict.must(requirement, false, isTrue(expected, `${observed}, and no end`), { in: again });
    else
      verdict.should("RETRY-13", false, isTrue(expected, observed), {
        in: again,
        because: "a repeat may be charged twice, and is forbidden if the request has side effects",
      });
  }
}

function sameIdempotencyKey(call: readonly Attempt[]): boolean {
  const keys = new Set(call.map((attempt) => headerOf(attempt, "idempotency-key")));
  return keys.size === 1 && !keys.has(undefined);
}
