import { isObject, type JsonObject, listOf } from "../../core/index.ts";
import type { Call } from "../pipeline/behaviour.ts";
import type { RelayedPiece } from "../pipeline/response.ts";
import type { FailedAttempt, NextAttempt, ProviderRequest } from "../relay/attempt.ts";
import type { UpstreamProvider } from "../relay/upstream.ts";
import { always, type When } from "./when.ts";
import { type Apply, wrap } from "./wrap.ts";

/** Changes requests to real providers. */
export function onProviderRequest(
  when: When,
  edit: (requested: ProviderRequest, call: Call, provider: UpstreamProvider) => ProviderRequest,
): Apply {
  return wrap("providerRequest", (next) => (call, provider) => {
    const requested = next(call, provider);
    return when(call) ? edit(requested, call, provider) : requested;
  });
}

/** Changes the body of requests to real providers. */
export function onProviderBody(edit: (body: JsonObject, call: Call) => JsonObject, when: When = always): Apply {
  return onProviderRequest(when, (requested, call) => ({
    ...requested,
    body: JSON.stringify(edit(JSON.parse(requested.body) as JsonObject, call)),
  }));
}

/** Adds headers to requests to real providers. */
export function withProviderHeaders(
  headers: (call: Call, provider: UpstreamProvider) => Readonly<Record<string, string>>,
  when: When = always,
): Apply {
  return onProviderRequest(when, (requested, call, provider) => ({
    ...requested,
    headers: { ...requested.headers, ...headers(call, provider) },
  }));
}

/** Changes every text of the conversation in requests to real providers. */
export function onTexts(edit: (text: string) => string): Apply {
  return onProviderBody((body) => ({
    ...body,
    messages: listOf(body["messages"]).map((turn) =>
      isObject(turn) && typeof turn["content"] === "string" ? { ...turn, content: edit(turn["content"]) } : turn,
    ) as JsonObject[],
  }));
}

/** Removes fields from requests to real providers. */
export function withoutFields(...names: readonly string[]): Apply {
  return onProviderBody(
    (body) => Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name))) as JsonObject,
  );
}

/** Calls providers in another order, or more often; nothing for the default. */
export function onNextProvider(
  choose: (
    failed: readonly FailedAttempt[],
    providers: readonly UpstreamProvider[],
    call: Call,
  ) => NextAttempt | "none" | undefined,
): Apply {
  return wrap("nextProvider", (next) => (failed, call) => {
    const chosen = choose(failed, call.services.upstream?.providers ?? [], call);
    return chosen === "none" ? undefined : (chosen ?? next(failed, call));
  });
}

/** Changes the stream of a real provider. */
export function onRelayedStream(
  edit: (pieces: AsyncIterable<RelayedPiece>, call: Call) => AsyncIterable<RelayedPiece>,
): Apply {
  return wrap("relayStream", (next) => (pieces, call) => edit(next(pieces, call), call));
}

/** Changes the text of each piece of a real provider's stream; interrupted pieces stay unchanged. */
export function onRelayedText(edit: (text: string, call: Call) => string): Apply {
  return onRelayedStream(async function* (pieces, call) {
    for await (const piece of pieces) {
      const text = Buffer.from(piece.bytes).toString("utf8");
      yield piece.isBroken ? piece : { ...piece, bytes: Buffer.from(edit(text, call)) };
    }
  });
}

/** Changes each raw event of a real provider's stream; `undefined` ends the stream silently. */
export function onRelayedEvents(edit: (event: string, call: Call) => string | undefined): Apply {
  return onRelayedStream(async function* (pieces, call) {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const piece of pieces) {
      if (piece.isBroken) yield piece;
      rest += decoder.decode(piece.bytes, { stream: true });
      const events = rest.split(/(?<=\n\n)/);
      rest = events.at(-1)?.endsWith("\n\n") === true ? "" : (events.pop() ?? "");
      for (const event of events) {
        const edited = edit(event, call);
        if (edited === undefined) return;
        yield { ...piece, bytes: Buffer.from(edited) };
      }
    }
  });
}

/** Changes a real provider's non-streaming reply. */
export function onRelayedReply(edit: (value: JsonObject, call: Call) => JsonObject): Apply {
  return wrap("relayReply", (next) => (value, call) => {
    const reply = next(value, call);
    return isObject(reply) ? edit(reply as JsonObject, call) : reply;
  });
}

/** Changes every text in a value, at any depth. */
export function mapTexts<T>(value: T, edit: (text: string) => string): T {
  if (typeof value === "string") return edit(value) as T;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, edit)) as T;
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, mapTexts(inner, edit)])) as T;
}

/** Fires some time after another signal. */
export function later(signal: AbortSignal | null, ms: number): AbortSignal | null {
  if (signal === null) return null;
  const controller = new AbortController();
  signal.addEventListener("abort", () => setTimeout(() => controller.abort(), ms).unref(), { once: true });
  return controller.signal;
}
