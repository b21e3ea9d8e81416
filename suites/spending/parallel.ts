import { type Check, defineCheck, type RequestSpec, type Response, type Session } from "../../src/checks/index.ts";
import { deviation, formatCount, formatRounded, mean, tQuantile } from "../../src/core/index.ts";
import { atMost } from "../../src/judging/index.ts";
import { isSpendingDenial, LAG_S, type UsedUpState } from "./drive.ts";

/** Parallel requests, of which each level uses up fresh keys. */
const LEVELS = [1, 4, 16, 64, 256] as const;
const QUICK_LEVELS = [1, 16, 64] as const;
/** Most keys per level, so that an interval can be computed. */
const REPEATS = 3;
/** Larger levels use up one key. */
const MAX_REPEATED_LEVEL = 64;
const CONFIDENCE = 0.95;
/** Requests in flight if the target file states no limit. */
const DEFAULT_IN_FLIGHT = 64;
/** Most requests with one key before its denial: larger limits are not used up. */
const MAX_REQUESTS = 300;
/** How long an unusable rest may be reserved after the last request has ended, ms. */
const RELEASED_MS = 30_000;
const POLL_MS = 1_000;
/** Longest total wait for the reservations of one key, ms. Above RELEASED_MS, because credit that is released bit by bit is usable. */
const MAX_WAIT_MS = 4 * RELEASED_MS;
/** Failed requests after which a key is not tried any more. */
const MAX_FAILED = 5;
/** Largest share of the limit that may stay unusable; the cost of one request always may. */
const MAX_REST = 0.15;

/** What was served with one fresh key. */
type Used = {
  /** Requests in flight until the first denial. */
  readonly parallel: number;
  /** Served until then, and in all: then one after the other, until the key was denied for good. */
  readonly inParallel: number;
  readonly served: number;
  /** The final denial; `null`: none within the lag. */
  readonly denial: Response | null;
  /** Responses that were neither served nor denied for spending. */
  readonly failed: number;
};

type CapsRecording = {
  readonly state: UsedUpState;
  readonly levels: readonly (readonly Used[])[];
};

const inFlightOf = ({ target }: Session): number => target.limits?.inFlight ?? DEFAULT_IN_FLIGHT;

const levelsFor = (t: Session): readonly number[] =>
  (t.run.isQuick ? QUICK_LEVELS : LEVELS).filter((level) => level === 1 || level <= inFlightOf(t));

/** Keys that a level uses up at once: together they stay within the in-flight limit of the account. */
function keysFor(t: Session, level: number): number {
  if (t.run.isQuick || level > MAX_REPEATED_LEVEL) return 1;
  return Math.min(REPEATS, Math.max(1, Math.floor(inFlightOf(t) / level)));
}

interface Burst {
  readonly state: UsedUpState;
  readonly parallel: number;
  /** Requests that the limit pays for; `undefined`: not known yet. */
  readonly affordable: number | undefined;
}

/** Largest part of the limit that may stay unusable, requests. */
const restOf = (affordable: number): number => Math.max(1, Math.ceil(affordable * MAX_REST));

/** Long enough that parallel requests are in flight together, ms, and short enough to be sent one after the other. */
const REPLY_MS = 150;
/** Length and output limit of the reply, tokens: no more is reserved than the reply costs. */
const OUTPUT = 8;

/** A request whose reply takes a while, if the providers can be scripted. */
async function lastingRequest(t: Session): Promise<RequestSpec> {
  if (t.target.upstream === undefined) return {};
  const marker = t.upstream.marker();
  await t.upstream.setResponses(marker, { "*": { latencyMs: REPLY_MS, pieces: OUTPUT } });
  return t.upstream.marked(marker, t.dialect, { maxTokens: OUTPUT });
}

/** Uses up a fresh key. @returns `null` without one. */
export async function exhaust(t: Session, { state, parallel, affordable }: Burst): Promise<Used | null> {
  const key = await t.fixtures.freshKey(`key.${state}`);
  if (key === undefined) return null;
  const request: RequestSpec = { ...(await lastingRequest(t)), key, intent: "any", repeats: false };
  let [inParallel, failed, sent] = [0, 0, 0];
  for (let isOpen = true; isOpen && sent < MAX_REQUESTS; ) {
    const responses = await Promise.all(Array.from({ length: parallel }, () => t.start(request).done));
    sent += responses.length;
    inParallel += responses.filter(({ admitted }) => admitted).length;
    const denied = responses.filter(isSpendingDenial).length;
    failed += responses.filter((response) => !response.admitted && !isSpendingDenial(response)).length;
    // Once the limit is exceeded, stop sending: the tally may lag.
    isOpen = denied === 0 && failed < parallel && inParallel < (affordable ?? MAX_REQUESTS);
  }
  const enough = affordable === undefined ? MAX_REQUESTS : affordable;
  let served = inParallel;
  /** Time waited since the last served request, and in total, ms. */
  let [waitedMs, allMs] = [0, 0];
  let wasDenied = false;
  while (served < enough && failed < MAX_FAILED) {
    const response = await t.start(request).done;
    if (response.admitted) {
      served++;
      waitedMs = 0;
    } else if (!isSpendingDenial(response)) failed++;
    else {
      // Reservations may be released late, those of single requests too: one denial is not the end.
      const isTimeUp = waitedMs >= RELEASED_MS || allMs >= MAX_WAIT_MS;
      const isFinal =
        affordable === undefined ? wasDenied || isTimeUp : served >= affordable - restOf(affordable) || isTimeUp;
      if (isFinal) return { parallel, inParallel, served, denial: response, failed };
      await t.wait(POLL_MS, "reserved charges to be released");
      waitedMs += POLL_MS;
      allMs += POLL_MS;
    }
    wasDenied = isSpendingDenial(response);
  }
  const last = await untilDenied(t, request, LAG_S[state]);
  return { parallel, inParallel, served, denial: last.denial, failed: failed + last.failed };
}

/** Kept low so that the polls themselves do not exceed the limit. */
const POLLS = 5;

/** @returns the denial, or `null` within the lag, and how many responses were neither served nor denied for spending. */
async function untilDenied(t: Session, request: RequestSpec, lagS: number): Promise<Pick<Used, "denial" | "failed">> {
  let failed = 0;
  for (let poll = 0; ; poll++) {
    const response = await t.start(request).done;
    if (isSpendingDenial(response)) return { denial: response, failed };
    if (!response.admitted) failed++;
    if (poll === POLLS) return { denial: null, failed };
    await t.wait((lagS * 1_000) / POLLS, "charges to be settled");
  }
}

/** Requests that the limit pays for, one after the other; `undefined`: too many, or none. */
function paysFor(sequential: readonly Used[]): number | undefined {
  if (sequential.length === 0 || sequential.some(({ served }) => served >= MAX_REQUESTS)) return undefined;
  return Math.round(mean(sequential.map(({ served }) => served)));
}

const WHAT = { cappable: "daily cap", childSmall: "lifetime budget" } as const;

/** `3 requests (95 %: 1 to 5)`. */
function withInterval(values: readonly number[]): string {
  const middle = mean(values);
  const requests = formatCount(middle, "request");
  if (values.length < 2) return requests;
  const half = (tQuantile((1 + CONFIDENCE) / 2, values.length - 1) * deviation(values)) / Math.sqrt(values.length);
  const [low, high] = [Math.max(0, middle - half), middle + half].map((value) => formatRounded(value, 1));
  return `${requests} (95 %: ${low} to ${high})`;
}

function capCheck(state: UsedUpState, id: `spending.${string}`): Check {
  const limit = WHAT[state];
  return defineCheck<CapsRecording>({
    id,
    title: `Parallel requests neither bypass a ${limit} nor leave part of it unusable`,
    covers: ["SPEND-6", "SPEND-13", "SPEND-14"],
    explains: `Uses up fresh keys with a small ${limit}, with 1, 4, 16, 64 and 256 requests in parallel that take a moment (as far as the limits of the account allow; up to three keys each, one above ${MAX_REPEATED_LEVEL} and in a quick run) until the first denial, and then one after the other. The report shows for each level how many more requests were served than when they are sent one at a time, and how much of the limit stayed unusable, with 95 % intervals. The key must be denied within ${LAG_S[state]} s after its limit is passed, no matter how many requests were in flight${state === "cappable" ? ": the tally may lag by about a minute, so the overshoot itself is only recorded" : ", and parallel requests should not get twice the budget"}. The part of the limit that is still denied ${RELEASED_MS / 1_000} s after the last request should be smaller than ${MAX_REST * 100} % of the limit.`,
    needs: [`key.${state}`],
    reaches: "spending",
    schedule: { order: "exclusive" },
    cost: {
      requests: LEVELS.length * REPEATS * 150,
      waitS: POLL_MS / 1_000,
      quick: { requests: QUICK_LEVELS.length * 150, waitS: POLL_MS / 1_000 },
    },
    async run(t) {
      const levels: Used[][] = [];
      let affordable: number | undefined;
      for (const parallel of levelsFor(t)) {
        // Keys of one level at once: each waits for its own reservations.
        const used = await Promise.all(
          Array.from({ length: keysFor(t, parallel) }, () => exhaust(t, { state, parallel, affordable })),
        );
        levels.push(used.filter((one) => one !== null));
        affordable ??= paysFor(levels[0] ?? []);
        if (affordable === undefined) break;
      }
      return { state, levels };
    },
    judge({ levels }, verdict) {
      const sequential = levels[0] ?? [];
      if (sequential.length === 0)
        return verdict.notApplicable("fresh keys are only available from a provisioning hook or the embedded gateway");
      const affordable = paysFor(sequential);
      if (affordable === undefined)
        return verdict.inconclusive(
          `${MAX_REQUESTS} requests did not use up the ${limit}: the limit is too large for this check, or the gateway's tally lags`,
        );
      verdict.assume(affordable > 1, `the ${limit} covers more than one request`);
      if (!levels.some(([first]) => first !== undefined && first.parallel > 1))
        return verdict.notApplicable("the account allows too few parallel requests (limits.inFlight)");
      // The tally of a cap may lag, so keys may have been served beyond it: the lowest count is closest to the limit.
      const limitOf = state === "cappable" ? Math.min(...sequential.map(({ served }) => served)) : affordable;
      for (const used of levels) {
        const [first] = used;
        if (first === undefined) continue;
        const { parallel } = first;
        const seen = { in: first.denial ?? undefined };
        const failed = used.reduce((sum, one) => sum + one.failed, 0);
        if (failed > 0)
          verdict.markUndecided("inconclusive", `${failed} of the requests with ${parallel} in parallel failed`);
        // A key whose requests failed may have been at its end without saying so.
        const open = used.filter((one) => one.denial === null && one.failed === 0).length;
        verdict.should("SPEND-6", open, 0, {
          because: `keys (of ${used.length}) that were not denied within ${LAG_S[state]} s after ${parallel} parallel requests`,
        });
        const beyond = used.map(({ served }) => Math.max(0, served - affordable));
        const rest = used.map(({ served }) => Math.max(0, limitOf - served));
        if (state === "childSmall")
          verdict.should(
            "SPEND-6",
            Math.max(...used.map(({ inParallel }) => inParallel)),
            atMost(Math.max(affordable * 2, affordable + 8)),
            {
              ...seen,
              because: `requests served with ${parallel} in parallel; the budget covers ${affordable}`,
            },
          );
        // Sequential requests are what the parallel ones are compared with.
        if (parallel > 1)
          verdict.should("SPEND-13", Math.min(...rest), atMost(restOf(limitOf)), {
            ...seen,
            because: `requests still denied with ${limit} left (limit: ${limitOf} requests), after ${parallel} parallel requests`,
          });
        verdict.note(
          "SPEND-14",
          `${parallel} in parallel: ${withInterval(beyond)} beyond the ${limit} of ${affordable}, ${withInterval(rest)} unusable`,
          seen,
        );
      }
    },
  });
}

export const PARALLEL: readonly Check[] = [
  capCheck("cappable", "spending.cap-parallel"),
  capCheck("childSmall", "spending.budget-parallel"),
];
