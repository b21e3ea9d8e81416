import type { ApiKey } from "../accounts/account.ts";
import { utcDay } from "../accounts/utc-day.ts";
import { costOf } from "../providers/model-table.ts";
import { plannedTokens } from "../providers/plan.ts";
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
  call.reservedMicroUsd = costOf(model, plan.inputTokens, outputTokens);
  key.account.reservedMicroUsd += call.reservedMicroUsd;
  key.spend.reserve(call.reservedMicroUsd);
  call.services.shared?.add({ kind: "reserve", key: key.id, microUsd: call.reservedMicroUsd });
}

/** Complete requests cost the estimate, interrupted ones what was delivered, all others nothing. */
export function charge(call: Call, { outcome, deliveredTokens }: Closing): number {
  const { model, plan, usage } = call;
  if (model === undefined || plan === undefined || plan.kind === "failure") return 0;
  if (outcome !== "complete" && outcome !== "interrupted") return 0;
  if (plan.kind === "relay") {
    // A client that left before any output pays nothing.
    if (usage === undefined && deliveredTokens === 0) return 0;
    const { inputTokens = plan.inputTokens, outputTokens = deliveredTokens } = usage ?? {};
    return costOf(model, inputTokens, outcome === "complete" ? outputTokens : deliveredTokens);
  }
  return costOf(model, plan.inputTokens, deliveredTokens);
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
