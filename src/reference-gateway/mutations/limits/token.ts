import { sleep } from "../../../core/index.ts";
import { loadGrid, loadMutation, type Mutation } from "../../change.ts";
import { tokenLimitersFrom } from "../../edits/limit-scopes.ts";
import { setHeader } from "../../edits/replies/response-edits.ts";
import { onMessages, remembered, streaming, type When } from "../../edits/when.ts";
import { type Apply, all, onServed, wrap } from "../../edits/wrap.ts";
import { REMAINING_TOKENS, rollingTokens } from "../../limiters/token-limiter.ts";
import type { Call } from "../../pipeline/behaviour.ts";
import { refusal } from "../../pipeline/refusal.ts";
import { headerOf } from "../../pipeline/response.ts";
import { inputTokens } from "../../providers/text-plan.ts";

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
  loadMutation("tokens.never-enforced", {
    breaks: OVER,
    summary: "The token limit is never enforced.",
    apply: wrap("check", (next) => (name, call) => (name === "tokens" ? undefined : next(name, call))),
  }),
  ...loadGrid(OVER, tokenLimitersFrom, {
    "tokens.doubled": {
      summary: "Twice the token limit is admitted.",
      with: (perMinute) => rollingTokens(perMinute * 2),
    },
    "tokens.halved": {
      breaks: ["TOKENS-NOT-EARLY"],
      summary: "Only half of the token limit is admitted.",
      with: (perMinute) => rollingTokens(perMinute / 2),
    },
  }),
  ...loadGrid(OVER, countedAs, {
    "tokens.prompt-only": {
      summary: "Only prompt tokens are counted.",
      with: (tokens, { request }) => Math.min(tokens, request === undefined ? 0 : inputTokens(request)),
    },
    "tokens.counted-twice": {
      breaks: ["TOKENS-NOT-EARLY"],
      summary: "The tokens of every request are counted twice.",
      with: (tokens) => tokens * 2,
    },
  }),
  ...loadGrid(["TOKENS-ENFORCED"], unlimited, {
    "tokens.streams-free": { summary: "The tokens of streams are not counted.", with: streaming },
    "tokens.messages-free": {
      breaks: OVER,
      summary: "The tokens of requests on the messages endpoint are not counted.",
      with: onMessages,
    },
  }),
  loadMutation("tokens.checked-before-counted", {
    breaks: ["TOKENS-AT-ONCE"],
    summary: "Tokens are counted a moment after the check: a whole burst passes.",
    apply: countedLater,
  }),
  loadMutation("tokens.denied-as-spending", {
    breaks: ["TOKENS-DENIAL"],
    summary: "A token limit denial is a 402 quota_exceeded.",
    apply: wrap(
      "refuse",
      (next) => (refused, call) => next(refused.tokens === undefined ? refused : refusal("quota_exceeded"), call),
    ),
  }),
  loadMutation("tokens.retry-after-half", {
    breaks: ["TOKENS-RETRY-AFTER"],
    summary: "Retry-After of a token limit denial is half of the real wait.",
    apply: changeRetryAfter((seconds) => String(Math.ceil(seconds / 2))),
  }),
  loadMutation("tokens.retry-after-missing", {
    breaks: ["TOKENS-RETRY-AFTER", "LIMIT-RATE-4"],
    summary: "Token limit denials have no Retry-After.",
    apply: changeRetryAfter(() => undefined),
  }),
  ...loadGrid(["TOKENS-REMAINING"], changeRemaining, {
    "tokens.remaining-stays": {
      summary: "The remaining tokens in a response are always the whole limit.",
      with: (_stated, { key }) => String(key?.account.tokens?.tokensPerMinute),
    },
    "tokens.remaining-of-requests": {
      summary: "The remaining tokens header has the remaining requests.",
      with: (_stated, { key, services }) => String(key?.account.limiter.remaining(services.clock.monotonicUs()) ?? 0),
    },
  }),
];
