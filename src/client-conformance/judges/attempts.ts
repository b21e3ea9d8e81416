import { isTrue, type Verdict } from "../../judging/index.ts";
import type { MustRequirement } from "../../requirements/index.ts";
import { type Attempt, type ClientRun, callsOf, gapMs, responseHeader, seconds } from "../observation.ts";

/** If a retry is forbidden, every call must be attempted exactly once. */
export function judgeOnce(requirement: MustRequirement, runs: readonly ClientRun[], verdict: Verdict): void {
  for (const [first, ...repeats] of runs.flatMap(callsOf)) {
    const [again] = repeats;
    const retryAfter = first === undefined ? undefined : responseHeader(first, "retry-after");
    const despite = retryAfter === undefined ? "" : `, whatever \`Retry-After: ${retryAfter}\` says`;
    const what = `${first?.response?.status ?? "no response"} ${first?.response?.reason ?? ""}`.trim();
    verdict.must(
      requirement,
      first === undefined || again === undefined,
      isTrue(
        `no retry after ${what}${despite}`,
        first === undefined || again === undefined
          ? "one attempt"
          : `${repeats.length + 1} attempts, the second ${seconds(gapMs(first, again))} after the denial`,
      ),
      { in: again ?? first },
    );
  }
}

/** The client must stop retrying on its own. */
export function judgeBounded(
  requirement: MustRequirement,
  runs: readonly ClientRun[],
  verdict: Verdict,
  maxAttempts: number,
): void {
  for (const run of runs) {
    const calls = callsOf(run);
    const longest = calls.reduce<Attempt[]>((known, call) => (call.length > known.length ? call : known), []);
    const over = longest.length > maxAttempts;
    if (!over && run.ending.by === "limit" && longest.length > 1) {
      verdict.markUndecided(
        "inconclusive",
        `${longest.length} attempts before it was stopped after ${seconds(run.ending.durationMs)}: allow more time with --timeout`,
      );
      continue;
    }
    verdict.must(
      requirement,
      !over,
      isTrue(
        `at most ${maxAttempts} attempts`,
        over ? `attempt ${longest.length} after ${seconds(lasted(longest))}, and no end` : plural(longest.length),
      ),
      { in: longest.at(-1) },
    );
  }
}

const plural = (count: number) => (count === 1 ? "one attempt" : `${count} attempts`);

function lasted(call: readonly Attempt[]): number {
  return (call.at(-1)?.request.atMs ?? 0) - (call[0]?.request.atMs ?? 0);
}
