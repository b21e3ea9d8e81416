import { isTrue, type Verdict } from "../../judging/index.ts";
import type { MustRequirement } from "../../requirements/index.ts";
import { type Attempt, type ClientRun, callsOf } from "../observation.ts";

/** Requests that arrive within this many milliseconds after a denial were in transit: they count as sent before it. */
const IN_TRANSIT_MS = 300;

/** After a concurrency denial, the client must have fewer requests in flight; running ones may finish. */
export function judgeParallelism(requirement: MustRequirement, run: ClientRun, verdict: Verdict): void {
  const { attempts } = run;
  const denied = attempts.find(({ response }) => response?.reason === "concurrency_limit_exceeded");
  const deniedMs = denied?.response?.beganMs;
  if (deniedMs === undefined) {
    const peak = Math.max(0, ...attempts.map((attempt) => inFlightAt(attempts, attempt.request.atMs)));
    verdict.markUndecided(
      "not-applicable",
      `never more than ${peak} in flight: to be judged, a command must make GAUNTLET_CALLS calls concurrently`,
    );
    return;
  }
  const [before, after] = [
    attempts.filter(({ request }) => request.atMs <= deniedMs + IN_TRANSIT_MS),
    attempts.filter(({ request }) => request.atMs > deniedMs + IN_TRANSIT_MS),
  ];
  const peakOf = (group: readonly Attempt[]) =>
    Math.max(0, ...group.map(({ request }) => inFlightAt(attempts, request.atMs)));
  const peakBefore = peakOf(before);
  if (after.length === 0) verdict.note(requirement, `${peakBefore} in flight, then no further request`);
  else {
    const worst = after.find(({ request }) => inFlightAt(attempts, request.atMs) >= peakBefore);
    verdict.must(
      requirement,
      peakOf(after) < peakBefore,
      isTrue(
        `fewer in flight than the ${peakBefore} of which some were denied`,
        `${peakOf(after)} in flight afterwards`,
      ),
      { in: worst },
    );
  }
  const aborted = attempts.find(
    ({ response }) => response?.outcome === "interrupted" && response.status === 200 && response.endedMs > deniedMs,
  );
  if (run.ending.by === "itself" || run.ending.by === "watch")
    verdict.must(
      requirement,
      aborted === undefined,
      isTrue(
        "running requests are not aborted",
        aborted === undefined ? "none was aborted" : "one was aborted after another was denied",
      ),
      { in: aborted },
    );
}

/** Whether requests of different calls are distinguishable. Only then can waits be judged. */
export function areCallsDistinguishable(run: ClientRun): boolean {
  return callsOf(run).every((call) =>
    call.every((attempt, index) => {
      const next = call[index + 1];
      return next === undefined || (attempt.response !== undefined && next.request.atMs >= attempt.response.endedMs);
    }),
  );
}

/** Number of requests in flight at a moment, including those that arrive at that moment. */
function inFlightAt(attempts: readonly Attempt[], atMs: number): number {
  return attempts.filter(
    ({ request, response }) => request.atMs <= atMs && (response === undefined || response.endedMs > atMs),
  ).length;
}
