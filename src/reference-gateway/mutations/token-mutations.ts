import { sleep } from "../../core/index.ts";
import { loadMutation, type Mutation } from "../change.ts";
import { tokenLimitersFrom } from "../edits/limit-scopes.ts";
import { setHeader } from "../edits/replies/response-edits.ts";
import { onMessages, remembered, streaming, type When } from "../edits/when.ts";
import { type Apply, all, onServed, wrap } from "../edits/wrap.ts";
import { REMAINING_TOKENS, rollingTokens } from "../limits/token-limiter.ts";
import type { Call } from "../pipeline/behaviour.ts";
import { refusal } from "../pipeline/refusal.ts";
import { headerOf } from "../pipeline/response.ts";
import { inputTokens } from "../providers/text-plan.ts";

const OVER = ["TOKENS-ENFORCED", "TOKENS-AT-ONCE"];

/** No token limit for some requests: they are neither checked nor counted. */
const unlimited = (when: When): Apply =>
  wrap("tokenLimiterOf", (next) => (key, call) => (when(call) ? undefined : next(key, call)));

/** How many tokens a request counts as, at admission and at its end. */
const countedAs = (change: (tokens: number, call: Call) => number): Apply =>
  all(
    wrap("tokensOf", (next) => (call) => change(next(call), call)),
    wrap("tokensAtEnd", (next) => (call, closing) => {
      const tokens = next(call, closing);
      return tokens === undefined ? undefined : change(tokens, call);
    }),
  );

/** Changes the Retry-After of token denials. */
const changeRetryAfter = (change: (seconds: number) => string | undefined): Apply =>
  wrap("retryAfter", (next) => (refused, call) => {
    const value = next(refused, call);
    return value === undefined || refused.tokens === undefined ? value : change(Number(value));
  });

/** Changes the remaining tokens in responses to served requests; accounts without such a limit have none. */
const changeRemaining = (change: (remaining: number, call: Call) => string): Apply =>
  onServed(
    (call) => call.tokens !== undefined,
    (response, call) =>
      setHeader(REMAINING_TOKENS, change(Number(headerOf(response.headers, REMAINING_TOKENS)), call))(response, call),
  );

/** Between checking and counting, milliseconds. */
const BETWEEN_MS = 30;

/** Concurrent requests are all checked before any of them is counted. */
const countedLater: Apply = (() => {
  const passed = remembered(() => new WeakSet<Call>());
  const passes = (call: Call) => call.behaviour.inferenceChecks.every((name) => !call.behaviour.check(name, call));
  return all(
    wrap("respond", (next) => (call) => {
      const isInference = call.endpoint !== "models" && call.arrival.purpose === "serve";
      if (!isInference || !passes(call) || call.key?.account.tokens === undefined) return next(call);
      passed(call).add(call);
      return sleep(BETWEEN_MS).then(() => next(call));
    }),
    wrap(
      "check",
      (next) => (name, call) => (name === "tokens" && passed(call).has(call) ? undefined : next(name, call)),
    ),
  );
})();

/** How many tokens an account may use per minute, and what responses state about it; for accounts with such a limit. */
export const TOKEN_MUTATIONS: readonly Mutation[] = [
  loadMutation(
    "tokens.never-enforced",
    OVER,
    "The token limit is never enforced.",
    wrap("check", (next) => (name, call) => (name === "tokens" ? undefined : next(name, call))),
  ),
  loadMutation(
    "tokens.doubled",
    OVER,
    "Twice the token limit is admitted.",
    tokenLimitersFrom((perMinute) => rollingTokens(perMinute * 2)),
  ),
  loadMutation(
    "tokens.prompt-only",
    OVER,
    "Only prompt tokens are counted.",
    countedAs((tokens, { request }) => Math.min(tokens, request === undefined ? 0 : inputTokens(request))),
  ),
  loadMutation(
    "tokens.streams-free",
    ["TOKENS-ENFORCED"],
    "The tokens of streams are not counted.",
    unlimited(streaming),
  ),
  loadMutation(
    "tokens.messages-free",
    OVER,
    "The tokens of requests on the messages endpoint are not counted.",
    unlimited(onMessages),
  ),
  loadMutation(
    "tokens.checked-before-counted",
    ["TOKENS-AT-ONCE"],
    "Tokens are counted a moment after the check: a whole burst passes.",
    countedLater,
  ),
  loadMutation(
    "tokens.halved",
    ["TOKENS-NOT-EARLY"],
    "Only half of the token limit is admitted.",
    tokenLimitersFrom((perMinute) => rollingTokens(perMinute / 2)),
  ),
  loadMutation(
    "tokens.counted-twice",
    ["TOKENS-NOT-EARLY"],
    "The tokens of every request are counted twice.",
    countedAs((tokens) => tokens * 2),
  ),
  loadMutation(
    "tokens.denied-as-spending",
    ["TOKENS-DENIAL"],
    "A token limit denial is a 402 quota_exceeded.",
    wrap(
      "refuse",
      (next) => (refused, call) => next(refused.tokens === undefined ? refused : refusal("quota_exceeded"), call),
    ),
  ),
  loadMutation(
    "tokens.retry-after-half",
    ["TOKENS-RETRY-AFTER"],
    "Retry-After of a token limit denial is half of the real wait.",
    changeRetryAfter((seconds) => String(Math.ceil(seconds / 2))),
  ),
  loadMutation(
    "tokens.retry-after-missing",
    ["TOKENS-RETRY-AFTER", "LIMIT-RATE-4"],
    "Token limit denials have no Retry-After.",
    changeRetryAfter(() => undefined),
  ),
  loadMutation(
    "tokens.remaining-stays",
    ["TOKENS-REMAINING"],
    "The remaining tokens in a response are always the whole limit.",
    changeRemaining((_stated, { key }) => String(key?.account.tokens?.tokensPerMinute)),
  ),
  loadMutation(
    "tokens.remaining-of-requests",
    ["TOKENS-REMAINING"],
    "The remaining tokens header has the remaining requests.",
    changeRemaining((_stated, { key, services }) =>
      String(key?.account.limiter.remaining(services.clock.monotonicUs()) ?? 0),
    ),
  ),
];
