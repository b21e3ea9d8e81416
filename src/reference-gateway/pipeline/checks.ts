import { member } from "../../core/index.ts";
import type { Call, CheckName } from "./behaviour.ts";
import { type Refusal, refusal } from "./refusal.ts";
import { checkTokens } from "./tokens.ts";

/** Runs one check of a request and stores what it finds. */
export function check(name: CheckName, call: Call): Refusal | undefined {
  switch (name) {
    case "credentials":
      return checkCredentials(call);
    case "body":
      return checkBody(call);
    case "model":
      return checkModel(call);
    case "spending":
      return checkSpending(call);
    case "rate":
      return checkRate(call);
    case "tokens":
      return checkTokens(call);
    case "concurrency":
      return checkConcurrency(call);
  }
}

function checkCredentials(call: Call): Refusal | undefined {
  const secret = call.behaviour.presentedKey(call);
  const key = secret === undefined ? undefined : call.behaviour.findKey(secret, call);
  if (key === undefined) return refusal("invalid_api_key");
  call.key = key;
  return call.behaviour.keyRevoked(key, call) ? refusal("key_revoked") : undefined;
}

function checkBody(call: Call): Refusal | undefined {
  const request = call.behaviour.readRequest(call);
  if ("reason" in request) return request;
  call.request = request;
  return undefined;
}

function checkModel(call: Call): Refusal | undefined {
  const id = call.request?.modelId ?? member(call.parsed, "model");
  // Not a string: the body check reports this.
  if (typeof id !== "string") return undefined;
  call.model = call.behaviour.findModel(id, call);
  return call.model === undefined ? refusal("model_not_found", { param: "model" }) : undefined;
}

function checkSpending(call: Call): Refusal | undefined {
  const { key, behaviour } = call;
  if (key === undefined) return undefined;
  if (behaviour.balanceExhausted(key, call)) return refusal("insufficient_credits");
  if (behaviour.budgetUsed(key, call)) return refusal("budget_exhausted");
  if (behaviour.capReached(key, call)) return refusal("quota_exceeded");
  return undefined;
}

function checkRate(call: Call): Refusal | undefined {
  if (call.key === undefined) return undefined;
  const limiter = call.behaviour.limiterOf(call.key, call);
  const waitUs = limiter.waitUs(call.services.clock.monotonicUs());
  if (waitUs <= 0) return undefined;
  const rate = { limit: limiter.limitPerMinute, remaining: 0 };
  return refusal("rate_limit_exceeded", { waitMs: waitUs / 1_000, rate });
}

function checkConcurrency(call: Call): Refusal | undefined {
  if (call.key === undefined) return undefined;
  const limiters = call.behaviour.concurrencyOf(call.key, call);
  if (!limiters.full) return undefined;
  const waitMs = (limiters.earliestEndUs() - call.services.clock.monotonicUs()) / 1_000;
  return refusal("concurrency_limit_exceeded", { waitMs: Math.max(0, waitMs) });
}
