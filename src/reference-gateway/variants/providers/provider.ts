import { isObject, type JsonObject, listOf } from "../../../core/index.ts";
import { type Variant, variant } from "../../change.ts";
import { coolDown } from "../../edits/cool-down.ts";
import {
  later,
  onNextProvider,
  onProviderBody,
  onProviderRequest,
  onRelayedEvents,
  onRelayedStream,
  withProviderHeaders,
} from "../../edits/provider-edits.ts";
import { always, every, onChat, onMessages, remembered, streaming } from "../../edits/when.ts";
import type { RelayedPiece } from "../../pipeline/response.ts";

const turns = remembered(() => ({ taken: 0 }));

/** Sorts the keys of objects alphabetically, at any depth. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}

const eachTurn = (body: JsonObject, edit: (content: unknown) => unknown): JsonObject =>
  ({
    ...body,
    messages: listOf(body["messages"]).map((turn) =>
      isObject(turn) ? { ...turn, content: edit(turn["content"]) } : turn,
    ),
  }) as JsonObject;

const asParts = (content: unknown): unknown =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

async function* inPieces(pieces: AsyncIterable<RelayedPiece>, size: number): AsyncGenerator<RelayedPiece> {
  for await (const { bytes, tokens, isBroken } of pieces) {
    if (isBroken || bytes.length > 65_536) {
      yield { bytes, tokens, isBroken };
      continue;
    }
    for (let from = 0; from < bytes.length; from += size)
      yield { bytes: bytes.subarray(from, from + size), tokens: from === 0 ? tokens : 0, isBroken };
  }
}

const COMMENT = Buffer.from(": keep-alive\n\n");

async function* withComments(pieces: AsyncIterable<RelayedPiece>): AsyncGenerator<RelayedPiece> {
  yield { bytes: COMMENT, tokens: 0, isBroken: false };
  yield* pieces;
}

/** Longest text of one event, characters. */
const PART = 16_384;
const TEXT_FIELD = /"(content|text|partial_json|arguments|reasoning_content|thinking)":"((?:[^"\\]|\\.)*)"/;

/** Splits an event with a long text into several; a text with escapes stays whole, because a part may end inside one. */
function inParts(event: string): string {
  const text = TEXT_FIELD.exec(event)?.[2] ?? "";
  if (text.length <= PART || text.slice(16).includes("\\")) return event;
  const cuts = Array.from({ length: Math.ceil((text.length - 16) / PART) }, (_none, at) => 16 + at * PART);
  const parts = [text.slice(0, 16), ...cuts.map((from) => text.slice(from, from + PART))];
  return parts.map((part) => event.replace(TEXT_FIELD, (_all, name: string) => `"${name}":"${part}"`)).join("");
}

/** Conformant gateways with unusual behaviour towards their providers. */
export const PROVIDER_VARIANTS: readonly Variant[] = [
  variant(
    "provider.long-events-in-parts",
    "Long events of a provider's stream are split into several short ones.",
    onRelayedEvents(inParts),
  ),
  variant(
    "provider.long-event-is-an-error",
    "A stream with an event longer than 1 MiB ends with an error event.",
    onRelayedStream(async function* (pieces, call) {
      let bytes = 0;
      for await (const piece of pieces) {
        bytes = Buffer.from(piece.bytes).includes("\n\n") ? piece.bytes.length : bytes + piece.bytes.length;
        if (bytes > 1_048_576) {
          const data = JSON.stringify({ type: "error", error: { type: "api_error", message: "an event is too long" } });
          const name = call.dialect === "messages" ? "event: error\n" : "";
          yield { bytes: Buffer.from(`\n\n${name}data: ${data}\n\n`), tokens: 0, isBroken: true };
          return;
        }
        yield piece;
      }
    }),
    ["UPSTREAM-LONG-EVENT"],
  ),
  variant(
    "provider.taken-in-turns",
    "Requests start with each provider in turn.",
    onNextProvider((failed, providers, call) => {
      if (failed.length > 0) {
        const rest = providers.filter((provider) => failed.every((one) => one.provider !== provider));
        const last = failed.at(-1);
        const [next] = rest;
        return last?.hasBegun === true || next === undefined || call.left?.aborted === true
          ? "none"
          : { provider: next, afterMs: 0 };
      }
      const provider = providers[turns(call).taken++ % providers.length];
      return provider === undefined ? undefined : { provider, afterMs: 0 };
    }),
  ),
  variant(
    "provider.first-one-twice",
    "The first provider is retried once before the second one is tried.",
    onNextProvider((failed, providers, call) => {
      const last = failed.at(-1);
      if (last === undefined || last.hasBegun || call.left?.aborted === true) return undefined;
      const provider = failed.length === 1 ? providers[0] : providers[failed.length - 1];
      return provider === undefined || failed.length > 2 ? "none" : { provider, afterMs: 0 };
    }),
  ),
  variant(
    "provider.waits-before-the-next",
    "The gateway waits before it tries the next provider.",
    onNextProvider((failed, providers, call) => {
      const provider = providers[failed.length];
      const isFirst = failed.length === 0 || failed.at(-1)?.hasBegun === true || call.left?.aborted === true;
      return isFirst || provider === undefined ? undefined : { provider, afterMs: 600 };
    }),
  ),
  variant(
    "provider.more-headers",
    "Providers get custom headers from the gateway.",
    withProviderHeaders((call) => ({ "x-request-id": call.id, via: "1.1 gateway", "user-agent": "gateway/7" })),
  ),
  variant(
    "provider.key-in-another-header",
    "Providers of the messages dialect get the operator's key in x-api-key.",
    onProviderRequest(onMessages, (requested, _call, { key = "" }) => {
      const { authorization: _, ...headers } = requested.headers;
      return { ...requested, headers: { ...headers, "x-api-key": key } };
    }),
  ),
  variant(
    "provider.body-rewritten",
    "The body is reserialised for the provider, indented and in another order.",
    onProviderRequest(always, (requested) => ({
      ...requested,
      body: JSON.stringify(sorted(JSON.parse(requested.body)), null, 2),
    })),
  ),
  variant(
    "provider.more-fields",
    "Providers get custom fields from the gateway.",
    onProviderBody((body, call) => ({
      ...body,
      user: call.key?.account.id ?? "",
      store: false,
      metadata: { by: "gateway" },
    })),
  ),
  variant(
    "provider.more-turns",
    "The gateway adds a system prompt before the conversation.",
    onProviderBody((body, call) =>
      call.endpoint === "messages"
        ? { ...body, system: `Follow the rules of the house. ${String(body["system"] ?? "")}` }
        : {
            ...body,
            messages: [
              { role: "system", content: "Follow the rules of the house." },
              ...(listOf(body["messages"]) as JsonObject[]),
            ],
          },
    ),
  ),
  variant(
    "provider.other-model-names",
    "The model has a different name at the provider.",
    onProviderBody((body) => ({ ...body, model: "provider-model-7b" })),
  ),
  variant(
    "provider.always-asks-for-usage",
    "Usage is always requested for chat streams.",
    onProviderBody(
      (body) => ({ ...body, stream_options: { include_usage: true } }),
      (call) => onChat(call) && streaming(call),
    ),
  ),
  variant(
    "provider.texts-as-parts",
    "Turn texts reach the provider as a list of one part.",
    onProviderBody((body) => eachTurn(body, asParts)),
  ),
  variant(
    "provider.marked-for-the-cache",
    "Messages turns are marked for the provider's cache.",
    onProviderBody(
      (body) =>
        eachTurn(body, (content) =>
          listOf(asParts(content)).map((part) =>
            isObject(part) ? { ...part, cache_control: { type: "ephemeral" } } : part,
          ),
        ),
      onMessages,
    ),
  ),
  variant(
    "provider.output-limit-renamed",
    "The chat output limit reaches the provider under its newer name.",
    onProviderBody(
      ({ max_tokens, ...body }) => ({
        ...body,
        ...(max_tokens === undefined ? {} : { max_completion_tokens: max_tokens }),
      }),
      onChat,
    ),
  ),
  variant(
    "provider.stream-in-small-pieces",
    "A provider's stream is passed on in 61-byte writes.",
    onRelayedStream((pieces) => inPieces(pieces, 61)),
  ),
  variant("provider.stream-with-comments", "A provider's stream begins with a comment.", onRelayedStream(withComments)),
  variant(
    "provider.broken-stream-just-cut",
    "A stream that the provider interrupts is cut off without an error event.",
    onRelayedStream(async function* (pieces) {
      for await (const piece of pieces) yield piece.isBroken ? { ...piece, bytes: new Uint8Array() } : piece;
    }),
    ["COMPAT-STREAM-ERROR"],
  ),
  variant(
    "provider.cancelled-half-a-second-later",
    "The provider's reply is cancelled half a second after the caller disconnects.",
    onProviderRequest(always, (requested) => ({ ...requested, signal: later(requested.signal, 500) })),
  ),
  variant(
    "provider.left-alone-after-failures",
    "After five failures within ten seconds, no provider is called for three seconds.",
    coolDown({ afterFailures: 5, lastsMs: 3_000 }),
  ),
  variant(
    "provider.connections-renewed",
    "Every fourth request closes its connection to the provider.",
    onProviderRequest(every(4), (requested) => ({ ...requested, closes: true })),
  ),
];
