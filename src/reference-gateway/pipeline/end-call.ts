import type { Activity } from "../history.ts";
import { plannedTokens } from "../providers/plan.ts";
import type { Call } from "./behaviour.ts";
import type { Closing } from "./outcome.ts";
import { historyError } from "./refuse.ts";
import { settle } from "./spending.ts";
import { settleTokens } from "./tokens.ts";

/** Ends a request: its lease first, then its charge, then its row in the history; all of it is saved soon. */
export function endCall(call: Call, closing: Closing): void {
  const { shared } = call.services;
  if (shared === undefined) end(call, closing);
  else shared.eventually(() => end(call, closing));
}

function end(call: Call, closing: Closing): void {
  call.behaviour.release(call, closing);
  settleTokens(call, closing);
  const chargeMicroUsd = call.behaviour.charge(call, closing);
  settle(call, chargeMicroUsd);
  if (call.arrival.purpose === "serve") record(call, closing, chargeMicroUsd);
  call.services.saver?.markChanged();
}

export function releaseLease(call: Call): void {
  if (call.lease === undefined) return;
  call.lease.release();
  call.services.shared?.add({ kind: "release", id: call.id });
}

function record(call: Call, { outcome, status, deliveredTokens }: Closing, chargeMicroUsd: number): void {
  const { services, arrival, key, plan, model } = call;
  const row: Activity = {
    requestId: call.id,
    atMs: arrival.arrivedMs,
    accountId: key?.account.id,
    keyId: key?.id,
    endpoint: arrival.endpoint,
    model: model?.id,
    stream: call.wantsStream,
    status,
    outcome,
    reason: call.refused?.reason,
    inputTokens: inputTokensOf(call),
    outputTokens: outcome === "complete" ? outputTokensOf(call, deliveredTokens) : deliveredTokens,
    chargeMicroUsd,
    durationMs: (services.clock.monotonicUs() - arrival.arrivedUs) / 1_000,
    upstreamError: plan?.kind === "failure" ? historyError(plan.failure, call) : brokenOff(call),
  };
  services.history.add(row);
  services.shared?.add({ kind: "activity", row });
}

function inputTokensOf({ plan, usage }: Call): number {
  if (plan === undefined || plan.kind === "failure") return 0;
  return usage?.inputTokens ?? plan.inputTokens;
}

function outputTokensOf({ plan, usage }: Call, delivered: number): number {
  return plan?.kind === "reply" ? plannedTokens(plan) : (usage?.outputTokens ?? delivered);
}

function brokenOff(call: Call): string | undefined {
  const { plan, upstreamFailure } = call;
  if (upstreamFailure !== undefined) return historyError(upstreamFailure, call);
  return plan?.kind === "reply" && plan.breaksAfter !== undefined ? "connection closed in the middle" : undefined;
}
