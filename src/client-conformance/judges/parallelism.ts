import { isTrue, type Verdict } from "../../judging/index.ts";
import type { MustRequirement } from "../../requirements/index.ts";
import { type Attempt, type ClientRun, callsOf } from "../observation.ts";

/** Requests sent within this time after a denial count as sent before it, milliseconds: they were already on their way. */
const ON_ITS_WAY_MS = 300;

/** After a concurrency denial, the client must have fewer requests in flight; running ones may finish. */
export function judgeParallelism(requirement: MustRequirement, run: ClientRun, verdict: Verdict): void {
  const { attempts } = run;
  const denied = attempts.find(({ response }) => response?.reason === "concurrency_limit_exceeded");
  const deniedMs = denied?.response?.beganMs;
  if (deniedMs === undefined) {
    const peak = Math.max(0, ...attempts.map((attempt) => inFlightAt(attempts, attempt.request.atMs)));
    verdict.markUndecided(
      "not-applicable",
      `never more than ${peak} in flight: to be judged, a command makes GAUNTLET_CALLS calls at the same time`,
    );
    return;
  }
  const [before, after] = [
    attempts.filter(({ request }) => request.atMs <= deniedMs + ON_ITS_WAY_MS),
    attempts.filter(({ request }) => request.atMs > deniedMs + ON_ITS_WAY_MS),
  ];
  const peakOf = (group: readonly Attempt[]) =>
    Math.max(0, ...group.map(({ request }) => inFlightAt(attempts, request.atMs)));
  const most = peakOf(before);
  if (after.length === 0) verdict.note(requirement, `${most} in flight, then no further request`);
  else {
    const worst = after.find(({ request }) => inFlightAt(attempts, request.atMs) >= most);
    verdict.must(
      requirement,
      peakOf(after) < most,
      isTrue(`fewer in flight than the ${most} of which some were denied`, `${peakOf(after)} in flight afterwards`),
      { in: worst },
    );
  }
  const left = attempts.find(
    ({ response }) => response?.outcome === "interrupted" && response.status === 200 && response.endedMs > deniedMs,
  );
  if (run.ending.by === "itself" || run.ending.by === "watch")
    verdict.must(
      requirement,
      left === undefined,
      isTrue(
        "requests that are served may end",
        left === undefined ? "none was aborted" : "one was aborted after another was denied",
      ),
      { in: left },
    );
}

/** Whether requests of different calls can be told apart. Only then can waits be judged. */
export function areCallsDistinguishable(run: ClientRun): boolean {
  return callsOf(run).every((call) =>
    call.every((attempt, index) => {
      const next = call[index + 1];
      return next === undefined || (attempt.response !== undefined && next.request.atMs >= attempt.response.endedMs);
    }),
  );
}

/** Requests in flight at a moment, including those that arrive then. */
function inFlightAt(attempts: readonly Attempt[], atMs: number): number {
  return attempts.filter(
    ({ request, response }) => request.atMs <= atMs && (response === undefined || response.endedMs > atMs),
  ).length;
}
