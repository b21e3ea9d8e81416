import { atLeast, atMost, type Check, defineCheck, type Response, that, type Verdict } from "../../src/checks/index.ts";
import { denialRequirements, judgeDenial } from "../shared/judge-denial.ts";
import { type Burst, concurrencyDenialsWhenIdle, exceedsLimit, refilledEarly } from "./burst.ts";
import { admittedIn, isConcurrencyDenial, isRateDenial, isRefused, isServed } from "./limit-denials.ts";
import { type RateRecording, rateScenario } from "./rate-scenario.ts";
import { isBracketed } from "./while-denied.ts";

/** Share of the limit that must have been let in before a denial for the rate is missed. */
const MOST_OF_RATE = 0.8;
/** Denials for slots with nothing under way that are no accident. */
const FEWEST_LONE = 2;

function bursts({ first, second, third }: RateRecording): Burst[] {
  return [first, second, third].filter((run) => run !== null);
}

const enforced = defineCheck({
  id: "limits.rate-enforced",
  scenario: rateScenario,
  title: "Sending faster than the limit is denied",
  covers: ["LIMIT-RATE-1", "ERR-429-RATE", "LIMIT-2"],
  explains:
    "Sends requests as fast as they are answered, up to twice the minute's limit: more than any window lets through. A denial for the rate must appear, in each dialect. If none does, the limit is not enforced for that kind of request.",
  judge(recording, verdict) {
    for (const run of bursts(recording)) {
      assumeNoTrouble(run, verdict);
      assumeConcurrencyAllows(run, recording.limits, verdict);
      const denied = run.answers.filter(isRateDenial);
      const seen = {
        in: denied[0] ?? run.answers.at(-1),
        because: `${run.what}: ${admittedIn(run.answers)} of ${run.answers.length} admitted in ${run.seconds.toFixed(1)} s at ${recording.limits.rpm} per minute`,
      };
      verdict.must("LIMIT-RATE-1", denied.length, atLeast(1), seen);
      verdict.must("ERR-429-RATE", denied.length, atLeast(1), seen);
      verdict.must("LIMIT-2", denied.length, atLeast(1), seen);
    }
    const [free] = recording.undenied.filter((run) => exceedsLimit(run, recording.limits));
    if (free === undefined) return;
    verdict.must("LIMIT-RATE-1", free.answers.filter(isRefused).length, atLeast(1), {
      in: free.answers.at(-1),
      because: `${free.what}: ${admittedIn(free.answers)} admitted in ${free.seconds.toFixed(1)} s at ${recording.limits.rpm} per minute, after the limit had been reached`,
    });
  },
});

/** A burst of which next to nothing was served ran into something else than the rate. */
function assumeNoTrouble({ answers, what }: Burst, verdict: Verdict): void {
  const trouble = answers.filter(
    (answer) => !isServed(answer) && !isRateDenial(answer) && !isConcurrencyDenial(answer),
  );
  if (trouble.length === 0 || admittedIn(answers) > 0) return;
  verdict.inconclusive(`${what}: no request was served (${trouble[0]?.summary})`);
}

/** Too few were let in to say anything of the rate, when slots ran out first. */
function assumeConcurrencyAllows(run: Burst, { rpm }: RateRecording["limits"], verdict: Verdict): void {
  const { answers, what } = run;
  if (answers.some(isRateDenial) || !answers.some(isConcurrencyDenial) || admittedIn(answers) >= rpm * MOST_OF_RATE)
    return;
  if (concurrencyDenialsWhenIdle(run).length < FEWEST_LONE)
    verdict.inconclusive(`${what}: slots ran out before the rate; ${admittedIn(answers)} requests were admitted`);
}

const holds = defineCheck({
  id: "limits.rate-holds",
  scenario: rateScenario,
  title: "The limit holds over time",
  covers: ["LIMIT-RATE-2", "LIMIT-2"],
  explains:
    "Two bursts up to the limit, the second as soon as the first denial allows. One burst may exceed the limit when the edge of a fixed window lies inside it; two cannot, and together they stay within the limit times the minutes begun plus one. A failure means that more is let through than the account's rate: counters per key, dialect or worker, or requests that are not counted.",
  judge(recording, verdict) {
    const { limits, first, second, third } = recording;
    if (second === null) return verdict.inconclusive("the first burst was never denied; see limits.rate-enforced");
    const over = bursts(recording).filter((run) => exceedsLimit(run, limits));
    const counts = bursts(recording).map(
      (run) => `${run.what}: ${admittedIn(run.answers)} in ${run.seconds.toFixed(1)} s`,
    );
    const seen = { in: over[0]?.answers.at(-1), because: `${counts.join("; ")}; limit ${limits.rpm} per minute` };
    verdict.must("LIMIT-RATE-2", over.length, atMost(1), {
      ...seen,
      because: `bursts beyond the limit: ${seen.because}`,
    });
    verdict.must("LIMIT-2", over.length, atMost(1), seen);
    const early = [refilledEarly(first, second, limits), third !== null && refilledEarly(second, third, limits)];
    verdict.must("LIMIT-RATE-2", early.every(Boolean), false, {
      ...seen,
      because: `two bursts in a row that came before a minute could refill the limit: ${seen.because}`,
    });
    const runs = third === null ? [first, second] : [first, second, third];
    const begun = runs[0]?.answers[0]?.exchange.timeline.dueUs ?? 0;
    const ended = Math.max(...runs.flatMap((run) => run.answers.map(({ exchange }) => exchange.timeline.endUs)));
    const minutes = Math.ceil((ended - begun) / 60_000_000);
    const total = runs.reduce((sum, run) => sum + admittedIn(run.answers), 0);
    verdict.must("LIMIT-RATE-2", total, atMost(limits.rpm * (minutes + 1)), {
      ...seen,
      because: `admitted in ${minutes} minutes begun`,
    });
  },
});

const notEarly = defineCheck({
  id: "limits.rate-not-early",
  scenario: rateScenario,
  title: "Traffic below the limit is not denied for its rate",
  covers: ["LIMIT-RATE-3", "LIMIT-2"],
  explains:
    "A burst that reaches four fifths of the limit before its first denial has shown it. If it is denied earlier, as a bucket with little burst may do, evenly paced traffic at 80 % of the limit is sent for a minute after a quiet one: none of it may be denied.",
  judge({ first, paced, limits }, verdict) {
    assumeNoTrouble(first, verdict);
    if (paced.length === 0) {
      const admitted = admittedIn(first.answers);
      const least = Math.floor(limits.rpm * 0.8);
      if (!first.answers.some(isRateDenial) && admitted < least)
        return verdict.inconclusive(`only ${admitted} requests were served`);
      verdict.must("LIMIT-RATE-3", admitted, atLeast(least), { because: "requests in a row before the first denial" });
      verdict.must("LIMIT-2", admitted, atLeast(least));
      return;
    }
    const denied = paced.filter((answer, at) => isRateDenial(answer) && cameEvenly(answer, paced[at - 1], limits.rpm));
    verdict.must("LIMIT-RATE-3", denied.length, 0, {
      in: denied[0],
      because: `${paced.length} evenly paced requests in a minute, limit ${limits.rpm}`,
    });
    verdict.must("LIMIT-2", denied.length, 0, { in: denied[0] });
  },
});

/** Whether it really came a full interval after the one before: on a busy machine a late one is followed by an early one. */
function cameEvenly({ exchange }: Response, before: Response | undefined, rpm: number): boolean {
  if (before === undefined) return true;
  const sentUs = (answer: Response["exchange"]) => answer.timeline.sentUs ?? answer.timeline.dueUs;
  return sentUs(exchange) - sentUs(before.exchange) >= 60_000_000 / rpm;
}

/** Judges that a kind of request was not let past while the account was denied. */
function judgeKind(
  { whileDenied, laterDenied, limits }: RateRecording,
  kind: string,
  say: (admitted: number, allowed: number, first: Response | undefined, why: string) => void,
  verdict: Verdict,
): void {
  const entry = whileDenied.find((candidate) => candidate.kind === kind);
  if (entry === undefined) return;
  if (!isBracketed(entry)) verdict.inconclusive(`the window turned over while ${kind} were tried`);
  const later = laterDenied.filter((candidate) => candidate.kind === kind);
  for (const { tries, seconds } of [entry, ...later]) {
    const admitted = tries.filter(isServed);
    // A place that became free in between may go to any request.
    const allowed = 1 + Math.floor((seconds * limits.rpm) / 60);
    const why = `${kind}: ${admitted.length} of ${tries.length} served while the account was denied`;
    say(admitted.length, allowed, admitted[0] ?? tries[0], why);
  }
}

const sharedByKeys = defineCheck({
  id: "limits.rate-shared-by-keys",
  scenario: rateScenario,
  title: "The keys of an account share its rate",
  covers: ["LIMIT-1"],
  explains:
    "While one key of the account is denied for the rate, its other key is tried, with the first key still denied afterwards. The other key must be denied too: the limit belongs to the account.",
  needs: ["limited.rate.second"],
  judge(recording, verdict) {
    verdict.assume(recording.whileDenied.length > 0, "the account could be brought to its limit");
    judgeKind(
      recording,
      "other key",
      (admitted, allowed, first, why) =>
        verdict.must("LIMIT-1", admitted, atMost(allowed), { in: first, because: why }),
      verdict,
    );
    // Dialects should be counted together: what is let past here and is not let past above is a warning.
    judgeKind(
      recording,
      "other key, messages",
      (admitted, allowed, first, why) =>
        verdict.should("LIMIT-1", admitted, atMost(allowed), { in: first, because: why }),
      verdict,
    );
  },
});

const sharedByKinds = defineCheck({
  id: "limits.rate-shared-by-kinds",
  scenario: rateScenario,
  title: "Both dialects, streaming and non-streaming requests, all models and clients share the account's rate",
  covers: ["LIMIT-5", "LIMIT-1", "LIMIT-RATE-1"],
  explains:
    "While chat requests of the account are denied for the rate, streams, conversations, the other dialect, another model and what looks like another client are tried. Streams, conversations and other models must be denied too, the other dialect should be. Something that is let past is counted apart or not limited at all.",
  judge(recording, verdict) {
    verdict.assume(recording.whileDenied.length > 0, "the account could be brought to its limit");
    const requirements = {
      "chat streams": "LIMIT-RATE-1",
      conversations: "LIMIT-RATE-1",
      "another client": "LIMIT-1",
      "other model": "LIMIT-1",
    } as const;
    for (const [kind, requirement] of Object.entries(requirements)) {
      judgeKind(
        recording,
        kind,
        (admitted, allowed, first, why) =>
          verdict.must(requirement, admitted, atMost(allowed), { in: first, because: why }),
        verdict,
      );
    }
    for (const kind of ["messages", "messages streams"]) {
      judgeKind(
        recording,
        kind,
        (admitted, allowed, first, why) =>
          verdict.should("LIMIT-5", admitted, atMost(allowed), { in: first, because: why }),
        verdict,
      );
    }
  },
});

const otherAccounts = defineCheck({
  id: "limits.rate-other-account",
  scenario: rateScenario,
  title: "Another account is not denied for this one's rate",
  covers: ["LIMIT-1", "LIMIT-RATE-3"],
  explains:
    "While one account is denied for its rate, keys of unrelated accounts are tried. They must be served: limits are kept per account.",
  judge({ others, whileDenied }, verdict) {
    verdict.assume(whileDenied.length > 0, "the account could be brought to its limit");
    if (others.length === 0) return verdict.notApplicable("the target has no key of another account");
    for (const { account, answers } of others) {
      const denied = answers.filter(isRateDenial);
      const all = that("not all of them", (count) => (count as number) < answers.length);
      verdict.must("LIMIT-1", denied.length, all, {
        in: denied[0],
        because: `of ${answers.length} requests of another account (${account}) were denied`,
      });
      verdict.must("LIMIT-RATE-3", denied.length, all, { in: denied[0] });
    }
  },
});

const denialFormat = defineCheck({
  id: "limits.rate-denial",
  scenario: rateScenario,
  title: "A denial for the rate is a 429 rate_limit_exceeded in both dialects, streaming and non-streaming",
  covers: denialRequirements("rate_limit_exceeded"),
  explains:
    "Every denial for the rate that the scenario met: status, reason header, action hint, and the body's shape in the chat dialect.",
  judge({ whileDenied, extraBurst, expected, first, second }, verdict) {
    const own = whileDenied.filter(({ kind }) => kind !== "model list");
    // Requests that were served a moment ago and now are not: whatever their status, it is the denial.
    const surely = [
      ...first.answers,
      ...extraBurst,
      ...(second?.answers ?? []),
      ...own.flatMap(({ before, after }) => [before, after]),
    ];
    const tries = own.flatMap((entry) => entry.tries);
    const denials = [
      ...surely.filter(isRefused),
      ...tries.filter((answer) => isRateDenial(answer) || answer.reason === expected.word),
    ];
    verdict.assume(denials.length > 0, "the account could be brought to its limit");
    for (const answer of denials) judgeDenial(verdict, answer, expected);
  },
});

const whatCounts = defineCheck({
  id: "limits.rate-what-counts",
  scenario: rateScenario,
  title: "Window, bursts, and what counts toward the rate",
  covers: ["LIMIT-RATE-8"],
  explains:
    "How many requests a quiet account may send at once, how the wait develops, and whether the list is limited: not shown, noted.",
  judge({ first, second, firstWait, whileDenied }, verdict) {
    const list = whileDenied.find(({ kind }) => kind === "model list");
    verdict.observe("LIMIT-RATE-8", {
      admittedFromQuiet: admittedIn(first.answers),
      admittedAfterTheWait: second === null ? null : admittedIn(second.answers),
      waitMs: firstWait?.waitMs ?? null,
      listWhileDenied: list?.tries.map(({ status }) => status) ?? [],
    });
  },
});

const kept = defineCheck({
  id: "retry-after.sufficient",
  scenario: rateScenario,
  title: "The Retry-After wait of a rate denial is sufficient",
  covers: ["LIMIT-RATE-6"],
  explains:
    "After a denial for the rate nothing is sent on the account for as long as Retry-After says; one request is then sent and should be admitted; so once more after the denial that the other key and the other dialect met. A warning means that the wait is too short, or that each further request extends it.",
  judge({ firstWait, secondWait, shortestWait }, verdict) {
    if (shortestWait !== null)
      verdict.should("LIMIT-RATE-6", isRateDenial(shortestWait.retried), false, {
        in: shortestWait.retried,
        because: `Retry-After asked for ${shortestWait.waitMs} ms, then ${shortestWait.retried.summary}; other denials asked for longer`,
      });
    if (firstWait === null) return verdict.inconclusive("no denial for the rate was met");
    if (firstWait.waitMs === null)
      return verdict.inconclusive(
        firstWait.denial.header("retry-after") === undefined
          ? "no Retry-After header on the 429, so the wait could not be tested"
          : `Retry-After: ${firstWait.denial.header("retry-after")} on the 429 cannot be waited for, so the wait could not be tested`,
      );
    for (const kept of [firstWait, secondWait]) {
      if (kept === null || kept.waitMs === null) continue;
      const why = `Retry-After asked for ${kept.waitMs} ms, then ${kept.retried.summary}`;
      verdict.should("LIMIT-RATE-6", isRateDenial(kept.retried), false, { in: kept.retried, because: why });
    }
  },
});

export const RATE_CHECKS: readonly Check[] = [
  enforced,
  holds,
  notEarly,
  sharedByKeys,
  sharedByKinds,
  otherAccounts,
  denialFormat,
  whatCounts,
  kept,
];
