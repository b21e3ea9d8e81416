import { isTrue } from "../judging/index.ts";
import type { Turn } from "../reference-gateway/index.ts";
import type { MustRequirement } from "../requirements/index.ts";
import { judgeBounded, judgeOnce } from "./judges/attempts.ts";
import { judgeGrowth, judgeJitter, judgeNoLoop } from "./judges/backoff.ts";
import { generation, judgeGenerations } from "./judges/generations.ts";
import { judgeOtherHosts } from "./judges/key-host.ts";
import { areCallsDistinguishable, judgeParallelism } from "./judges/parallelism.ts";
import { judgeServed } from "./judges/served.ts";
import { judgeUncertain } from "./judges/uncertain.ts";
import { judgeWaits } from "./judges/waits.ts";
import { type Scenario, SERVE } from "./scenario.ts";

/** Enough copies to distinguish the jitter of a client from that of timers (see judges/backoff.ts). */
const COPIES = 8;
/** Concurrent calls that a command has to make, and how many of them are served at the same time. */
const PARALLEL = { calls: 8, served: 3 };

type Refused = Omit<Extract<Turn, { do: "refuse" }>, "do">;

const refuse = (refused: Refused): Turn => ({ do: "refuse", ...refused });

/** The next full second after a wait, as an HTTP date: never earlier than the wait. */
const dateIn = (ms: number): string => new Date(Math.ceil((Date.now() + ms) / 1_000) * 1_000).toUTCString();

/** A denial that retries cannot fix: exactly one attempt is allowed. */
function forbidden(name: string, requirement: MustRequirement, title: string, refused: Refused): Scenario {
  return {
    name,
    title,
    requirements: [requirement],
    turn: () => refuse(refused),
    judge: (runs, verdict) => judgeOnce(requirement, runs, verdict),
  };
}

/** Denials with Retry-After: the first attempts of a call get `denials`, the next one is served. */
function withRetryAfter(name: string, title: string, denials: readonly (() => Refused)[]): Scenario {
  return {
    name,
    title,
    requirements: ["RETRY-1"],
    turn: (_request, { before }) => {
      const denial = denials[before];
      return denial === undefined ? SERVE : refuse(denial());
    },
    judge: (runs, verdict, { mostAttempts }) => {
      if (judgeWaits("RETRY-1", runs, verdict) === 0)
        verdict.note("RETRY-1", "no automatic retry, so there was no wait to judge");
      else judgeBounded("RETRY-1", runs, verdict, mostAttempts);
    },
  };
}

/** Repeated denials with an unusable Retry-After: the client has to use its own backoff. */
function unusable(name: string, title: string, retryAfter: (before: number) => string): Scenario {
  return {
    name,
    title,
    requirements: ["RETRY-2"],
    turn: (_request, { before }) => refuse({ reason: "rate_limit_exceeded", retryAfter: retryAfter(before) }),
    judge: (runs, verdict, { mostAttempts }) => {
      judgeBounded("RETRY-2", runs, verdict, mostAttempts);
      judgeNoLoop("RETRY-2", runs, verdict);
    },
  };
}

/** All scenarios, in the order in which they run. The first one is the control for the others. */
export const SCENARIOS: readonly Scenario[] = [
  {
    name: "served",
    title: "The request has a bearer credential, JSON and the headers of its dialect",
    requirements: ["CLIENT-2", "CLIENT-3", "CLIENT-4"],
    turn: () => SERVE,
    judge: (runs, verdict) => {
      for (const run of runs) judgeServed(run, verdict);
    },
  },
  withRetryAfter("rate-seconds", "After a rate limit denial, the client waits as many seconds as `Retry-After` says", [
    () => ({ reason: "rate_limit_exceeded", retryAfter: "2" }),
    () => ({ reason: "rate_limit_exceeded", retryAfter: "1" }),
  ]),
  withRetryAfter("rate-date", "After a rate limit denial, the client waits until the date in `Retry-After`", [
    () => ({ reason: "rate_limit_exceeded", retryAfter: dateIn(2_000) }),
  ]),
  withRetryAfter(
    "concurrency-seconds",
    "After a concurrency limit denial, the client waits as long as `Retry-After` says",
    [() => ({ reason: "concurrency_limit_exceeded", retryAfter: "1" })],
  ),
  {
    name: "rate-long",
    title: "After `Retry-After: 600`, the client waits or stops trying, and never retries early",
    requirements: ["RETRY-1"],
    // Retry-After is ten minutes: any retry within the watch ignored it.
    watchMs: 8_000,
    passMessage: "findings",
    turn: () => refuse({ reason: "rate_limit_exceeded", retryAfter: "600" }),
    judge: (runs, verdict) => {
      if (judgeWaits("RETRY-1", runs, verdict) > 0) return;
      const waiting = runs.some(({ ending }) => ending.by === "watch");
      const observed = waiting ? "still waiting when the observation ended" : "no further attempt";
      verdict.must("RETRY-1", true, isTrue("no retry before the 600 s of Retry-After are over", observed));
    },
  },
  {
    name: "rate-without-retry-after",
    title: "Without `Retry-After`, the client backs off: growing waits with jitter, and a maximum number of attempts",
    requirements: ["RETRY-2"],
    copies: COPIES,
    passMessage: "findings",
    turn: () => refuse({ reason: "rate_limit_exceeded" }),
    judge: (runs, verdict, { mostAttempts }) => {
      judgeBounded("RETRY-2", runs, verdict, mostAttempts);
      judgeNoLoop("RETRY-2", runs, verdict);
      judgeGrowth("RETRY-2", runs, verdict);
      judgeJitter("RETRY-2", runs, verdict);
    },
  },
  unusable(
    "rate-unusable-retry-after",
    "An unusable `Retry-After` counts as none: no retry loop, and a maximum number of attempts",
    (before) => (before % 2 === 0 ? "soon" : "-1"),
  ),
  unusable(
    "rate-fraction",
    "A `Retry-After` with a fraction, which is not valid HTTP, does not cause a retry loop",
    () => "0.5",
  ),
  {
    name: "rate-past-date",
    title: "A `Retry-After` date in the past does not cause endless attempts",
    requirements: ["RETRY-2"],
    turn: () => refuse({ reason: "rate_limit_exceeded", retryAfter: dateIn(-30_000) }),
    judge: (runs, verdict, { mostAttempts }) => judgeBounded("RETRY-2", runs, verdict, mostAttempts),
  },
  {
    name: "parallelism",
    title:
      "After a concurrency limit denial, the client has fewer requests in flight and does not cancel the running ones",
    requirements: ["RETRY-6", "RETRY-1"],
    calls: PARALLEL.calls,
    passMessage: "findings",
    turn: (_request, { serving }) =>
      serving < PARALLEL.served
        ? { do: "serve", text: "Served by the scripted gateway, slowly.", lastsMs: 3_000 }
        : // Late enough that all requests sent together are in flight together.
          refuse({ reason: "concurrency_limit_exceeded", retryAfter: "1", afterMs: 500 }),
    judge: (runs, verdict, { mostAttempts }) => {
      for (const run of runs) {
        judgeParallelism("RETRY-6", run, verdict);
        if (areCallsDistinguishable(run)) judgeWaits("RETRY-1", [run], verdict);
      }
      judgeBounded("RETRY-6", runs, verdict, mostAttempts);
    },
  },
  forbidden("key-invalid", "RETRY-3", "No retry when the key is not valid", { reason: "invalid_api_key" }),
  forbidden("key-revoked", "RETRY-3", "No retry when the key is revoked", { reason: "key_revoked" }),
  forbidden("credits-exhausted", "RETRY-4", "No retry when the credits are used up, whatever `Retry-After` says", {
    reason: "insufficient_credits",
    retryAfter: "1",
  }),
  forbidden("spend-cap", "RETRY-4", "No retry when the spend cap is reached, whatever `Retry-After` says", {
    reason: "quota_exceeded",
    retryAfter: "1",
  }),
  forbidden(
    "budget-exhausted",
    "RETRY-5",
    "No retry when the lifetime budget is used up, whatever `Retry-After` says",
    {
      reason: "budget_exhausted",
      retryAfter: "1",
    },
  ),
  forbidden("model-unknown", "RETRY-10", "No retry when the model is not enabled", { reason: "model_not_found" }),
  {
    name: "server-error",
    title: "After a 503, the client retries a few times, with growing waits",
    requirements: ["RETRY-9"],
    copies: COPIES,
    passMessage: "findings",
    turn: () => refuse({ reason: "upstream_error", status: 503 }),
    judge: (runs, verdict, { mostAttempts }) => {
      judgeBounded("RETRY-9", runs, verdict, mostAttempts);
      judgeNoLoop("RETRY-9", runs, verdict);
      judgeGrowth("RETRY-9", runs, verdict);
    },
  },
  {
    name: "no-answer",
    title: "A request without a response is not repeated blindly",
    requirements: ["RETRY-7"],
    timeoutS: 2,
    watchMs: 20_000,
    passMessage: "findings",
    turn: () => ({ do: "silence" }),
    judge: (runs, verdict, { mostAttempts }) => {
      for (const run of runs) judgeUncertain("RETRY-7", run, verdict, mostAttempts);
    },
  },
  {
    name: "stream-cut",
    title: "A retried stream is a new generation, and its text is not appended to the first one",
    requirements: ["RETRY-8"],
    stream: true,
    turn: (_request, { before }) =>
      before === 0
        ? { do: "serve", text: generation(0, 20), lastsMs: 1_000, cutAfter: 8 }
        : { do: "serve", text: generation(before, 12), lastsMs: 300 },
    judge: (runs, verdict) => {
      for (const run of runs) judgeGenerations("RETRY-8", run, verdict);
    },
  },
  {
    name: "redirect",
    title: "The key is not sent to another host, even if a response redirects there",
    requirements: ["KEY-ONE-HOST"],
    passMessage: "findings",
    turn: (request, { otherHost }) => ({ do: "redirect", to: otherHost + request.url }),
    judge: (runs, verdict) => {
      for (const run of runs) judgeOtherHosts("KEY-ONE-HOST", run, verdict);
    },
  },
];
