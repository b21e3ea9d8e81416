import { REMAINING_TOKENS } from "../limiters/token-limiter.ts";
import { inputTokens } from "../providers/text-plan.ts";
import type { Call } from "./behaviour.ts";
import type { Closing } from "./outcome.ts";
import { type Refusal, refusal } from "./refusal.ts";
import type { Header } from "./response.ts";

/** Assumed maximum length of a reply if the request sets none, tokens. */
const DEFAULT_MAX_TOKENS = 256;

/**
 * Tokens that a request counts as when it is admitted: its prompt, and the maximum length of the reply unless only the prompt
 * counts.
 */
export function tokensOf({ request, services }: Call): number {
  if (request === undefined) return 0;
  const prompt = inputTokens(request);
  return services.tokenCounts === "prompt" ? prompt : prompt + (request.maxTokens ?? DEFAULT_MAX_TOKENS);
}

/** Tokens that a request counts as when it has ended. @returns nothing if they do not change. */
export function tokensAtEnd(
  { plan, usage, services }: Call,
  { outcome, deliveredTokens }: Closing,
): number | undefined {
  if (plan === undefined || plan.kind === "failure") return 0;
  if (outcome !== "complete" && outcome !== "interrupted") return 0;
  if (services.tokenCounts !== "total") return undefined;
  return (usage?.inputTokens ?? plan.inputTokens) + (usage?.outputTokens ?? deliveredTokens);
}

export function checkTokens(call: Call): Refusal | undefined {
  const { key, behaviour, services } = call;
  const limiter = key && behaviour.tokenLimiterOf(key, call);
  if (limiter === undefined) return undefined;
  const nowUs = services.clock.monotonicUs();
  const waitUs = limiter.waitUs(behaviour.tokensOf(call), nowUs);
  if (waitUs <= 0) return undefined;
  return refusal("rate_limit_exceeded", {
    message: "The account has used more tokens in a minute than its limit allows.",
    waitMs: waitUs / 1_000,
    tokens: { limit: limiter.tokensPerMinute, remaining: limiter.remaining(nowUs) },
  });
}

/** Counts an admitted request. @returns the headers with the state of the limit; none if its account has no such limit. */
export function countTokens(call: Call): Header[] {
  const { key, behaviour, services } = call;
  const limiter = key && behaviour.tokenLimiterOf(key, call);
  if (limiter === undefined) return [];
  const nowUs = services.clock.monotonicUs();
  call.tokens = limiter.count(behaviour.tokensOf(call), nowUs);
  return tokenHeaders({ limit: limiter.tokensPerMinute, remaining: limiter.remaining(nowUs) });
}

/** Gives back what was reserved and not used. */
export function settleTokens(call: Call, closing: Closing): void {
  const tokens = call.behaviour.tokensAtEnd(call, closing);
  if (call.tokens !== undefined && tokens !== undefined) call.tokens.tokens = tokens;
}

export function tokenHeaders({ limit, remaining }: NonNullable<Refusal["tokens"]>): Header[] {
  return [
    ["X-RateLimit-Limit-Tokens", String(limit)],
    [REMAINING_TOKENS, String(remaining)],
  ];
}
