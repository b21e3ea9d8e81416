import { OPERATOR_KEY } from "../providers/failing-models.ts";
import type { ProviderFailure } from "../providers/plan.ts";
import type { Call } from "./behaviour.ts";
import { type Refusal, refusal } from "./refusal.ts";
import type { GatewayResponse, Header } from "./response.ts";
import { tokenHeaders } from "./tokens.ts";

/** The response to a refused request: the status, the reason in a header, and the error body of the dialect. */
export function refuse(refused: Refusal, call: Call): GatewayResponse {
  const headers: Header[] = [
    ["X-Service-Error-Code", refused.reason],
    ["X-Service-Action", refused.action],
  ];
  const retryAfter = call.behaviour.retryAfter(refused, call);
  if (retryAfter !== undefined) headers.push(["Retry-After", retryAfter]);
  if (refused.rate !== undefined) {
    headers.push(["X-RateLimit-Limit", String(refused.rate.limit)]);
    headers.push(["X-RateLimit-Remaining", String(refused.rate.remaining)]);
  }
  if (refused.tokens !== undefined) headers.push(...tokenHeaders(refused.tokens));
  if (refused.allow !== undefined) headers.push(["Allow", refused.allow]);
  if (refused.status === 401) headers.push(["WWW-Authenticate", "Bearer"]);
  return {
    status: refused.status,
    headers,
    body: { kind: "json", value: call.dialect === "messages" ? messagesError(refused, call) : chatError(refused) },
    afterMs: 0,
    outcome: refused.status >= 500 ? "failed" : "denied",
    refusal: refused,
  };
}

/** Error object of the chat dialect. `code` is a number; the named reason is in the header. */
export function chatError(refused: Refusal): unknown {
  const { message, type, status, param = null } = refused;
  return { error: { message, type: type.chat, code: status, param } };
}

/** Error object of the messages dialect. */
export function messagesError(refused: Refusal, call: Call): unknown {
  return { type: "error", error: { type: refused.type.messages, message: refused.message }, request_id: call.id };
}

/** Added to a wait before it is rounded up: clients' timers may fire slightly early. Milliseconds. */
const TIMER_SLACK_MS = 20;

/**
 * `Retry-After` in whole seconds, rounded up so that a compliant client is not early. For a concurrency denial it is the time
 * until the first request in flight is expected to end.
 */
export function retryAfter({ waitMs }: Refusal): string | undefined {
  if (waitMs === undefined) return undefined;
  const seconds = Math.ceil((waitMs + TIMER_SLACK_MS) / 1_000);
  // No window is longer than a minute: the slack alone must not turn 60 into 61.
  return String(Math.max(1, waitMs <= 60_000 ? Math.min(60, seconds) : seconds));
}

/** A provider's error is never passed on to the caller, who always gets a 5xx of the gateway. */
export function upstreamRefusal(failure: ProviderFailure): Refusal {
  if (failure.status === "timeout") return refusal("upstream_timeout");
  return refusal("upstream_error", { status: failure.status >= 500 ? failure.status : 502 });
}

/** The part of a provider's failure that the history keeps: bounded, and without the operator's credential. */
export function historyError(failure: ProviderFailure, { services }: Call): string {
  const keys = [OPERATOR_KEY, ...(services.upstream?.providers ?? []).flatMap(({ key }) => key ?? [])];
  const redacted = keys.reduce((text, key) => text.replaceAll(key, "[redacted]"), `${failure.status} ${failure.body}`);
  return redacted.slice(0, 500);
}
