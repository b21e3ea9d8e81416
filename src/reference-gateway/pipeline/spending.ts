import type { ApiKey } from "../accounts/account.ts";
import { utcDay } from "../accounts/utc-day.ts";
import { costOf } from "../providers/model-table.ts";
import { plannedTokens } from "../providers/plan.ts";
import { NO_USAGE, type Usage } from "../relay/usage.ts";
import type { Call } from "./behaviour.ts";
import type { Closing } from "./outcome.ts";

/** Reserved charges count as spent: concurrent requests must not pass together if they could not pass one by one. */
export function balanceExhausted({ account }: ApiKey): boolean {
  return account.balanceMicroUsd - account.reservedMicroUsd <= 0;
}

export function capReached(key: ApiKey, call: Call): boolean {
  if (key.capMicroUsd === undefined) return false;
  const { clock } = call.services;
  const spent = key.spend.onDay(call.behaviour.capDay(call), clock.monotonicUs());
  // With a settling lag the tally only includes settled charges, as if another service kept it.
  const running = call.behaviour.settlingLagMs(call) > 0 ? 0 : call.behaviour.heldBack(key, call);
  return spent + running >= key.capMicroUsd;
}

export function budgetUsed(key: ApiKey, call: Call): boolean {
  if (key.budgetMicroUsd === undefined) return false;
  return key.spend.inLifetime + call.behaviour.heldBack(key, call) >= key.budgetMicroUsd;
}

export function capDay(call: Call): number {
  return utcDay(call.services.clock.nowMs());
}

/** Reserves the planned charge of the request. */
export function reserve(call: Call): void {
  const { key, model, plan } = call;
  if (key === undefined || model === undefined || plan === undefined || plan.kind === "failure") return;
  if (plan.kind === "reply" && plan.breaksAfter !== undefined) return;
  const outputTokens = plan.kind === "relay" ? plan.mostOutputTokens : plannedTokens(plan);
  call.reservedMicroUsd = costOf(model, { inputTokens: plan.inputTokens, outputTokens });
  key.account.reservedMicroUsd += call.reservedMicroUsd;
  key.spend.reserve(call.reservedMicroUsd);
  call.services.shared?.add({ kind: "reserve", key: key.id, microUsd: call.reservedMicroUsd });
}

/** Complete requests cost the estimate, interrupted ones what was delivered, all others nothing. */
export function charge(call: Call, closing: Closing): number {
  const { model, plan, usage } = call;
  const { outcome, deliveredTokens } = closing;
  if (model === undefined || plan === undefined || plan.kind === "failure") return 0;
  if (outcome !== "complete" && outcome !== "interrupted") return 0;
  // A client that left a real provider before any output pays nothing.
  if (plan.kind === "relay" && usage === undefined && deliveredTokens === 0) return 0;
  return call.behaviour.cost(model, call.behaviour.usage(call, closing), call);
}

/** The default of {@link Behaviour.usage}: what the provider counted, and of an interrupted reply what was delivered. */
export function usageOfCall({ plan, usage }: Call, { outcome, deliveredTokens }: Closing): Usage {
  if (plan === undefined || plan.kind === "failure") return NO_USAGE;
  if (plan.kind === "reply") return { ...NO_USAGE, inputTokens: plan.inputTokens, outputTokens: deliveredTokens };
  const counted = { ...NO_USAGE, inputTokens: plan.inputTokens, outputTokens: deliveredTokens, ...usage };
  if (outcome === "complete") return counted;
  return {
    ...counted,
    outputTokens: deliveredTokens,
    reasoningTokens: Math.min(counted.reasoningTokens, deliveredTokens),
  };
}

/** Ends the reservation and books the charge. */
export function settle(call: Call, microUsd: number): void {
  const { key, services } = call;
  if (key === undefined) return;
  key.account.reservedMicroUsd -= call.reservedMicroUsd;
  key.spend.release(call.reservedMicroUsd);
  const { shared } = services;
  if (call.reservedMicroUsd !== 0) shared?.add({ kind: "reserve", key: key.id, microUsd: -call.reservedMicroUsd });
  call.reservedMicroUsd = 0;
  if (microUsd === 0) return;
  const nowUs = services.clock.monotonicUs();
  key.account.balanceMicroUsd -= microUsd;
  const day = call.behaviour.capDay(call);
  const visibleAtUs = nowUs + call.behaviour.settlingLagMs(call) * 1_000;
  key.spend.charge(microUsd, day, visibleAtUs, nowUs);
  shared?.add({ kind: "balance", account: key.account.id, microUsd });
  shared?.add({ kind: "budget", key: key.id, microUsd });
  shared?.add({ kind: "cap", key: key.id, microUsd, day, visibleAtUs });
}
