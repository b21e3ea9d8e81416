import { type Dispatcher, errors, request } from "undici";
import { isObject, messageOf, sleep } from "../../core/index.ts";
import type { Call } from "../pipeline/behaviour.ts";
import type { GatewayResponse, Header } from "../pipeline/response.ts";
import type { ProviderFailure } from "../providers/plan.ts";
import type { FailedAttempt, NextAttempt, ProviderRequest } from "./attempt.ts";
import { relayedStream } from "./relayed-stream.ts";
import { authorization, type Upstream, type UpstreamProvider } from "./upstream.ts";
import { usageOf } from "./usage.ts";

/** Headers of the caller that belong to the request itself. Its credentials are only for the gateway. */
const PASSED_ON = ["content-type", "accept", "anthropic-version", "anthropic-beta", "traceparent", "tracestate"];
/** Bytes of a provider's error that are kept for the history. */
const KEPT_ERROR_BYTES = 4_096;
const TOO_MANY_REQUESTS = 429;

/** Calls providers until one serves the request. If none does, the last response decides. */
export async function relay(call: Call, headers: readonly Header[], upstream: Upstream): Promise<GatewayResponse> {
  const { behaviour } = call;
  const failed: FailedAttempt[] = [];
  for (;;) {
    const next = behaviour.nextProvider(failed, call);
    if (next === undefined) break;
    if (next.afterMs > 0) await sleep(next.afterMs);
    const { provider } = next;
    const requested = await sendToProvider(call, provider, upstream);
    if ("failure" in requested) {
      failed.push({ provider, hasBegun: false, ...requested });
      call.failedAttempts = failed.length;
      continue;
    }
    const response = await respondWith(call, headers, requested);
    if (!("failure" in response)) return response;
    failed.push({ provider, hasBegun: true, ...response });
    call.failedAttempts = failed.length;
  }
  const failure: ProviderFailure = failed.at(-1)?.failure ?? { status: 502, body: "no provider was called" };
  call.upstreamFailure = failure;
  return behaviour.refuse(behaviour.upstreamRefusal(failure, call), call);
}

/**
 * The default of `nextProvider`: each provider once, in order; none after the caller has left, none after a reply has begun,
 * and none if the request itself is invalid.
 */
export function nextInOrder(failed: readonly FailedAttempt[], call: Call): NextAttempt | undefined {
  const provider = call.services.upstream?.providers[failed.length];
  const last = failed.at(-1);
  const isOver = last !== undefined && (last.hasBegun || !isOfProvider(last.failure));
  if (provider === undefined || isOver || call.left?.aborted === true) return undefined;
  return { provider, afterMs: 0 };
}

/** Another provider may succeed; an invalid request fails at all of them. */
function isOfProvider({ status }: ProviderFailure): boolean {
  return status === "timeout" || status >= 500 || status === TOO_MANY_REQUESTS || (status >= 401 && status <= 403);
}

/** The default of `providerRequest`: the body unchanged unless the model is an alias, and the operator's key instead of the caller's. */
export function providerRequest(call: Call, provider: UpstreamProvider): ProviderRequest {
  const headers = { ...passedOn(call), ...authorization(provider) };
  const aliasOf = call.model?.aliasOf;
  const body =
    aliasOf === undefined || !isObject(call.parsed)
      ? call.bodyText
      : JSON.stringify({ ...call.parsed, model: aliasOf });
  return { headers, body, signal: call.left ?? null, closes: false };
}

/** Sends the request to a provider. @returns its response if it serves the request, otherwise why not. */
export async function sendToProvider(
  call: Call,
  provider: UpstreamProvider,
  { agent }: Upstream,
): Promise<Dispatcher.ResponseData | { readonly failure: ProviderFailure }> {
  const path = call.endpoint === "messages" ? "messages" : "chat/completions";
  const { headers, body, signal, closes } = call.behaviour.providerRequest(call, provider);
  try {
    const response = await request(`${provider.baseUrl}/${path}`, {
      method: "POST",
      dispatcher: agent,
      headers,
      body,
      signal,
      reset: closes,
    });
    if (response.statusCode < 300) return response;
    return { failure: { status: response.statusCode, body: await beginningOf(response) } };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

function failureOf(error: unknown): ProviderFailure {
  const isSilent =
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError ||
    error instanceof errors.ConnectTimeoutError;
  return { status: isSilent ? "timeout" : 502, body: messageOf(error) };
}

function passedOn({ arrival }: Call): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of PASSED_ON) {
    const value = arrival.headers[name];
    if (typeof value === "string") passed[name] = value;
  }
  return passed;
}

async function beginningOf({ body }: Dispatcher.ResponseData): Promise<string> {
  let text = "";
  try {
    for await (const part of body) {
      text += String(part);
      if (text.length >= KEPT_ERROR_BYTES) break;
    }
  } catch {
    // The rest is not needed: the status says that it failed.
  }
  return text.slice(0, KEPT_ERROR_BYTES);
}

async function respondWith(
  call: Call,
  headers: readonly Header[],
  { body, headers: own }: Dispatcher.ResponseData,
): Promise<GatewayResponse | { readonly failure: ProviderFailure }> {
  const common = { status: 200, headers, afterMs: 0, outcome: "complete" } as const;
  const { behaviour } = call;
  if (String(own["content-type"] ?? "").startsWith("text/event-stream")) {
    return { ...common, body: { kind: "relayed", pieces: behaviour.relayStream(relayedStream(body, call), call) } };
  }
  let value: unknown;
  try {
    value = await body.json();
  } catch (error) {
    return { failure: failureOf(error) };
  }
  call.usage = usageOf(value);
  return { ...common, body: { kind: "json", value: behaviour.relayReply(value, call) } };
}

/** The default of `relayReply`: whichever provider served it, the reply has the requested model. */
export function relayReply(value: unknown, call: Call): unknown {
  return isObject(value) && "model" in value ? { ...value, model: call.request?.modelId ?? "" } : value;
}
