import { type Check, defineCheck, type Response } from "../../../src/checks/index.ts";
import { atLeast, atMost, type Verdict } from "../../../src/judging/index.ts";
import { denialRequirements, judgeDenial } from "../../shared/judge/judge-denial.ts";
import { type Burst, concurrencyDenialsWhenIdle, exceedsLimit, refilledEarly } from "../burst.ts";
import { admittedIn, isConcurrencyDenial, isRateDenial, isRefused, isServed, withoutStrays } from "../denials.ts";
import type { RateRecording } from "./recording.ts";
import { rateScenario } from "./scenario.ts";

/** Share of the limit that must have been admitted before a missing rate denial counts. */
const MIN_ADMITTED_SHARE = 0.8;

/** Share of evenly paced requests that a network may deliver too close to the previous one. */
const JITTERED_SHARE = 0.02;

/** Concurrency denials with nothing in flight that are not an accident. */
const MIN_LONE = 2;

function bursts({ first, second, third }: RateRecording): Burst[] {
  return [first, second, third].filter((run) => run !== null);
}

const enforced = defineCheck({
  id: "limits.rate-enforced",
  scenario: rateScenario,
  basis: "timing",
  title: "Sending faster than the limit is denied",
  covers: ["LIMIT-RATE-1", "ERR-429-RATE", "LIMIT-2"],
  explains:
    "Sends requests as fast as responses arrive, up to twice the limit per minute: more than any window admits. A rate denial must appear in each dialect. Otherwise the limit is not enforced for that kind of request.",
  judge(recording, verdict) {
    for (const run of bursts(recording)) {
      assumeNoTrouble(run, verdict);
      assumeConcurrencyAllows(run, recording.limits, verdict);
      assumeReached(run, recording.limits, verdict);
      const denied = run.responses.filter(isRateDenial);
      const seen = {
        in: denied[0] ?? run.responses.at(-1),
        because: `${run.what}: ${admittedIn(run.responses)} of ${run.responses.length} admitted in ${run.seconds.toFixed(1)} s at ${recording.limits.rpm} per minute`,
      };
      verdict.must("LIMIT-RATE-1", denied.length, atLeast(1), seen);
      verdict.must("ERR-429-RATE", denied.length, atLeast(1), seen);
      verdict.must("LIMIT-2", denied.length, atLeast(1), seen);
    }
    const [free] = recording.undenied.filter((run) => exceedsLimit(run, recording.limits));
    if (free === undefined) return;
    verdict.must("LIMIT-RATE-1", free.responses.filter(isRefused).length, atLeast(1), {
      in: free.responses.at(-1),
      because: `${free.what}: ${admittedIn(free.responses)} admitted in ${free.seconds.toFixed(1)} s at ${recording.limits.rpm} per minute, after the limit had been reached`,
    });
  },
});

/** A burst of which almost nothing was served met something other than the rate limit. */
function assumeNoTrouble({ responses, what }: Burst, verdict: Verdict): void {
  const trouble = responses.filter(
    (response) => !isServed(response) && !isRateDenial(response) && !isConcurrencyDenial(response),
  );
  if (trouble.length === 0 || admittedIn(responses) > 0) return;
  verdict.inconclusive(`${what}: no request was served (${trouble[0]?.summary})`);
}

/**
 * If nothing was denied, either more requests than the limit allows were admitted, or enough that the refusal of the last ones
 * is the denial.
 */
function assumeReached(run: Burst, limits: RateRecording["limits"], verdict: Verdict): void {
  const { responses, what, seconds } = run;
  const admitted = admittedIn(responses);
  if (responses.some(isRateDenial) || exceedsLimit(run, limits)) return;
  const last = responses.findLast((response) => !isServed(response) && !isConcurrencyDenial(response));
  const isStopped = last !== undefined || concurrencyDenialsWhenIdle(run).length >= MIN_LONE;
  if (isStopped && admitted >= limits.rpm * MIN_ADMITTED_SHARE) return;
  verdict.inconclusive(
    `${what}: ${admitted} requests were admitted in ${seconds.toFixed(0)} s, which does not reach ${limits.rpm} per minute${last === undefined ? "" : `; the last ones failed: ${last.summary}`}`,
  );
}

/** The concurrency limit was reached first, and too few were admitted to say anything about the rate. */
function assumeConcurrencyAllows(run: Burst, { rpm }: RateRecording["limits"], verdict: Verdict): void {
  const { responses, what } = run;
  if (
    responses.some(isRateDenial) ||
    !responses.some(isConcurrencyDenial) ||
    admittedIn(responses) >= rpm * MIN_ADMITTED_SHARE
  )
    return;
  if (concurrencyDenialsWhenIdle(run).length < MIN_LONE)
    verdict.inconclusive(
      `${what}: the concurrency limit was reached before the rate limit; ${admittedIn(responses)} requests were admitted`,
    );
}

const holds = defineCheck({
  id: "limits.rate-holds",
  scenario: rateScenario,
  basis: "timing",
  title: "The limit holds over time",
  covers: ["LIMIT-RATE-2", "LIMIT-2"],
  explains:
    "Sends two bursts up to the limit, the second as soon as the first denial allows. One burst may exceed the limit if it spans the edge of a fixed window; two cannot, and together they must stay within the limit times the minutes begun plus one. A failure means that more than the account's rate is admitted: counters are per key, dialect or worker, or some requests are not counted.",
  judge(recording, verdict) {
    const { limits, first, second, third } = recording;
    if (second === null) return verdict.inconclusive("the first burst was never denied; see limits.rate-enforced");
    const over = bursts(recording).filter((run) => exceedsLimit(run, limits));
    const counts = bursts(recording).map(
      (run) => `${run.what}: ${admittedIn(run.responses)} in ${run.seconds.toFixed(1)} s`,
    );
    const seen = { in: over[0]?.responses.at(-1), because: `${counts.join("; ")}; limit ${limits.rpm} per minute` };
    verdict.must("LIMIT-RATE-2", over.length, atMost(1), {
      ...seen,
      because: `bursts beyond the limit: ${seen.because}`,
    });
    verdict.must("LIMIT-2", over.length, atMost(1), seen);
    const early = [refilledEarly(first, second, limits), third !== null && refilledEarly(second, third, limits)];
    verdict.must("LIMIT-RATE-2", early.every(Boolean), false, {
      ...seen,
      because: `two bursts in a row, sent before a minute could refill the limit: ${seen.because}`,
    });
    const runs = third === null ? [first, second] : [first, second, third];
    const begun = runs[0]?.responses[0]?.exchange.timeline.dueUs ?? 0;
    const ended = Math.max(...runs.flatMap((run) => run.responses.map(({ exchange }) => exchange.timeline.endUs)));
    const minutes = Math.ceil((ended - begun) / 60_000_000);
    const total = runs.reduce((sum, run) => sum + admittedIn(run.responses), 0);
    verdict.must("LIMIT-RATE-2", total, atMost(limits.rpm * (minutes + 1)), {
      ...seen,
      because: `admitted in ${minutes} minutes begun`,
    });
  },
});

const notEarly = defineCheck({
  id: "limits.rate-not-early",
  scenario: rateScenario,
  basis: "timing",
  title: "Traffic below the limit is not denied by the rate limit",
  covers: ["LIMIT-RATE-3", "LIMIT-2"],
  explains:
    "A burst that reaches four fifths of the limit before its first denial proves this. If it is denied earlier, as by a bucket with little burst, evenly paced traffic at 80 % of the limit is sent for a minute after a quiet one: none of it may be denied.",
  judge({ first, paced, limits }, verdict) {
    assumeNoTrouble(first, verdict);
    if (paced.length === 0) {
      const admitted = admittedIn(first.responses);
      const least = Math.floor(limits.rpm * 0.8);
      if (admitted < least)
        return verdict.inconclusive(
          first.responses.some(isRateDenial)
            ? `denied after a burst of ${admitted} requests; evenly paced requests, which a quick run skips, would show whether that is too early`
            : `only ${admitted} requests were served`,
        );
      verdict.must("LIMIT-RATE-3", admitted, atLeast(least), { because: "requests in a row before the first denial" });
      verdict.must("LIMIT-2", admitted, atLeast(least));
      return;
    }
    const denied = paced.filter(
      (response, at) => isRateDenial(response) && wasSentEvenly(response, paced[at - 1], limits.rpm),
    );
    // On the way to the gateway, a request may have moved closer to the previous one.
    const most = atMost(Math.floor(paced.length * JITTERED_SHARE));
    verdict.must("LIMIT-RATE-3", denied.length, most, {
      in: denied[0],
      because: `denied of ${paced.length} evenly paced requests in a minute, limit ${limits.rpm}`,
    });
    verdict.must("LIMIT-2", denied.length, most, { in: denied[0] });
  },
});

/** Whether it was really sent a full interval after the previous one: on a busy machine an early one follows a late one. */
function wasSentEvenly({ exchange }: Response, before: Response | undefined, rpm: number): boolean {
  if (before === undefined) return true;
  const sentUs = (response: Response["exchange"]) => response.timeline.sentUs ?? response.timeline.dueUs;
  return sentUs(exchange) - sentUs(before.exchange) >= 60_000_000 / rpm;
}

const denialFormat = defineCheck({
  id: "limits.rate-denial",
  scenario: rateScenario,
  title: "A rate denial is a 429 rate_limit_exceeded in both dialects, streaming and non-streaming",
  covers: denialRequirements("rate_limit_exceeded"),
  explains:
    "Checks every rate denial of the scenario: status, reason header, action hint, and the body's shape in the chat dialect. One 5xx may be a provider's; several mean that the gateway denies with 5xx.",
  judge({ whileDenied, extraBurst, expected, first, second }, verdict) {
    const own = whileDenied.filter(({ kind }) => kind !== "model list");
    // Requests that were served a moment ago and now are not: this is the denial, whatever the status.
    const surely = [
      ...refusedAtTheEnd(first),
      ...extraBurst.filter(isRefused),
      ...(second === null ? [] : refusedAtTheEnd(second)),
      ...own.flatMap(({ before, after }) => [before, after]).filter(isRefused),
    ];
    const tries = own.flatMap((entry) => entry.tries);
    const denials = [
      ...withoutStrays(surely),
      ...tries.filter((response) => isRateDenial(response) || response.reason === expected.readAs),
    ];
    verdict.assume(denials.length > 0, "the account could be brought to its limit");
    for (const response of denials) judgeDenial(verdict, response, expected);
  },
});

/** Refused by the rate limit, or refused for another reason after the last request that was served. */
function refusedAtTheEnd({ responses }: Burst): Response[] {
  const lastServedUs = Math.max(...responses.filter(isServed).map(({ exchange }) => exchange.timeline.dueUs));
  return responses.filter(
    (response) => isRateDenial(response) || (isRefused(response) && response.exchange.timeline.dueUs > lastServedUs),
  );
}

const whatCounts = defineCheck({
  id: "limits.rate-what-counts",
  scenario: rateScenario,
  basis: "timing",
  title: "Window, bursts, and what counts toward the rate",
  covers: ["LIMIT-RATE-8"],
  explains:
    "Records how large a burst a quiet account may send, how the wait develops, and whether the list is limited: the specification does not say.",
  judge({ first, second, firstWait, whileDenied }, verdict) {
    const list = whileDenied.find(({ kind }) => kind === "model list");
    verdict.observe("LIMIT-RATE-8", {
      admittedFromQuiet: admittedIn(first.responses),
      admittedAfterTheWait: second === null ? null : admittedIn(second.responses),
      waitMs: firstWait?.waitMs ?? null,
      listWhileDenied: list?.tries.map(({ status }) => status) ?? [],
    });
  },
});

export const RATE_LIMIT: readonly Check[] = [enforced, holds, notEarly, denialFormat, whatCounts];
