import type { Activity } from "../history.ts";
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
  const rows =
    call.arrival.purpose === "serve" ? call.behaviour.records(rowOf(call, closing, chargeMicroUsd), call) : [];
  settle(call, rows.length === 0 ? chargeMicroUsd : rows.reduce((sum, row) => sum + row.chargeMicroUsd, 0));
  for (const row of rows) {
    call.services.history.add(row);
    call.services.shared?.add({ kind: "activity", row });
  }
  call.services.saver?.markChanged();
}

export function releaseLease(call: Call): void {
  if (call.lease === undefined) return;
  call.lease.release();
  call.services.shared?.add({ kind: "release", id: call.id });
}

function rowOf(call: Call, closing: Closing, chargeMicroUsd: number): Activity {
  const { services, arrival, key, plan, model } = call;
  const { outcome, status } = closing;
  return {
    ...call.behaviour.usage(call, closing),
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
    chargeMicroUsd,
    durationMs: (services.clock.monotonicUs() - arrival.arrivedUs) / 1_000,
    upstreamError: plan?.kind === "failure" ? historyError(plan.failure, call) : brokenOff(call),
  };
}

function brokenOff(call: Call): string | undefined {
  const { plan, upstreamFailure } = call;
  if (upstreamFailure !== undefined) return historyError(upstreamFailure, call);
  return plan?.kind === "reply" && plan.breaksAfter !== undefined ? "connection closed in the middle" : undefined;
}
